// Owns how users of the bare SDK, version 2, open their servers: its default client, which sends no era probe.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { openWith } from './sdk-client.mjs';

export const open = openWith({ Client, StdioClientTransport, StreamableHTTPClientTransport });
