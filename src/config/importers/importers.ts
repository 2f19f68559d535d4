// Owns the list of all importers, strongest first: where two apps define a server of the same name, the first one counts.

import { agentCode } from './agent-code.ts';
import { claudeCode } from './claude-code.ts';
import { claudeDesktop } from './claude-desktop.ts';
import { cocode } from './cocode.ts';
import { codebuddy } from './codebuddy.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import type { Importer } from './importer.ts';
import { ohMyPi } from './oh-my-pi.ts';
import { opencode } from './opencode.ts';
import { sidecar } from './sidecar.ts';
import { vscode } from './vscode.ts';
import { windsurf } from './windsurf.ts';
import { zed } from './zed.ts';

export const importers: readonly Importer[] = [
  claudeCode,
  claudeDesktop,
  codex,
  gemini,
  opencode,
  cursor,
  windsurf,
  zed,
  copilot,
  vscode,
  codebuddy,
  cocode,
  ohMyPi,
  agentCode,
  sidecar,
];
