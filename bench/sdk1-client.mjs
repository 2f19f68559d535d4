// Owns how users of the bare SDK, version 1, open their servers.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { openWith } from './sdk-client.mjs';

export const open = openWith({ Client, StdioClientTransport, StreamableHTTPClientTransport });
