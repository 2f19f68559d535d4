// Owns the proof that a TOML file is edited in the form its author chose, and keeps everything else.

import { describe, expect } from 'vitest';
import { verifies } from '../../../verifies.ts';
import { edit, type Verb } from './texts.ts';

const x = { command: 'npx', args: ['-y', 'x'], env: { KEY: 'v' }, startupTimeoutMs: 5 };
const put: Verb = ['put', 'x', x];
const lines = 'command = "npx"\nargs = ["-y", "x"]\nenv = { KEY = "v" }\nstartup_timeout_ms = 5\n';
const inline = '{ command = "npx", args = ["-y", "x"], env = { KEY = "v" }, startup_timeout_ms = 5 }';

const environment = `# top

[plexus.startup] # mine
gate_ms   =   1

`;

const cases: Readonly<Record<string, readonly [before: string, verb: Verb, after: string]>> = {
  'a new file gets a table': ['', put, `[mcp_servers.x]\n${lines}`],
  'a new table goes to the end, behind one blank line': [
    '# mine\n\n\n',
    put,
    `# mine\n\n[mcp_servers.x]\n${lines}\n\n`,
  ],
  'a new table goes behind the last one of its kind, and the comments there stay with it': [
    '[mcp_servers.a]\ncommand = "a"\n# args = []\n\n# about b\n[b]\nc = 1\n',
    put,
    `[mcp_servers.a]\ncommand = "a"\n# args = []\n\n[mcp_servers.x]\n${lines}\n# about b\n[b]\nc = 1\n`,
  ],
  'a comment directly above the next table stays there': [
    '[mcp_servers.a]\ncommand = "a"\n# about b\n[b]\nc = 1\n',
    put,
    `[mcp_servers.a]\ncommand = "a"\n[mcp_servers.x]\n${lines}# about b\n[b]\nc = 1\n`,
  ],
  'the map the file has is used, with its indent': [
    '[mcpServers.a]\n  command = "a"\n',
    put,
    `[mcpServers.a]\n  command = "a"\n\n[mcpServers.x]\n${lines.replace(/^/gm, '  ').trimEnd()}\n`,
  ],
  'mcp.servers is used': [
    '[mcp.servers.a]\ncommand = "a"\n',
    put,
    `[mcp.servers.a]\ncommand = "a"\n\n[mcp.servers.x]\n${lines}`,
  ],
  'context_servers is used': [
    '[context_servers.a]\ncommand = "a"\n',
    put,
    `[context_servers.a]\ncommand = "a"\n\n[context_servers.x]\n${lines}`,
  ],
  'mcp itself is used where it holds servers': [
    '[mcp.a]\ncommand = "a"\n',
    put,
    `[mcp.a]\ncommand = "a"\n\n[mcp.x]\n${lines}`,
  ],
  'a list of tables gets one more': [
    '[[servers]]\nname = "a"\ncommand = "a"\n[servers.env]\nA = "b"\n\n[plexus]\n',
    put,
    `[[servers]]\nname = "a"\ncommand = "a"\n[servers.env]\nA = "b"\n\n[[servers]]\nname = "x"\n${lines}\n[plexus]\n`,
  ],
  'a list in brackets gets one more': [
    'servers = [{ name = "a", command = "a" }]\n',
    put,
    `servers = [{ name = "a", command = "a" }, ${inline.replace('{', '{ name = "x",')}]\n`,
  ],
  'an empty list gets its first': ['servers = []\n', put, `servers = [${inline.replace('{', '{ name = "x",')}]\n`],
  'a map in braces gets one more': [
    'mcp_servers = { a = { command = "a" } } # mine\n',
    put,
    `mcp_servers = { a = { command = "a" }, x = ${inline} } # mine\n`,
  ],
  'an empty map in braces gets its first': ['mcp_servers = {}\n', put, `mcp_servers = { x = ${inline} }\n`],
  'a map in braces over several lines gets a line more': [
    'mcp_servers = {\n  a = { command = "a" }, # about a\n}\n',
    put,
    `mcp_servers = {\n  a = { command = "a" }, # about a\n  x = ${inline},\n}\n`,
  ],
  'a table of inline tables gets a line more': [
    '[mcp_servers]\n  a = { command = "a" }\n\n[plexus]\n',
    put,
    `[mcp_servers]\n  a = { command = "a" }\n  x = ${inline}\n\n[plexus]\n`,
  ],
  'dotted keys at the top are left alone': [
    'mcp_servers.a.command = "a"\nother = 1\n',
    put,
    `mcp_servers.a.command = "a"\nother = 1\n\n[mcp_servers.x]\n${lines}`,
  ],
  'CRLF stays CRLF': [
    '[mcp_servers.a]\r\ncommand = "a"\r\n',
    put,
    `[mcp_servers.a]\r\ncommand = "a"\r\n\r\n[mcp_servers.x]\r\n${lines.replaceAll('\n', '\r\n')}`,
  ],
  'a last line without an end stays so': [
    '[mcp_servers.a]\ncommand = "a"',
    put,
    `[mcp_servers.a]\ncommand = "a"\n\n[mcp_servers.x]\n${lines.trimEnd()}`,
  ],
  'a byte order mark stays': ['\uFEFFa = 1\n', put, `\uFEFFa = 1\n\n[mcp_servers.x]\n${lines}`],
  'a name that is no bare key is quoted': [
    '',
    ['put', 'a.b "c" é', { url: 'https://a.example' }],
    '[mcp_servers."a.b \\"c\\" é"]\nurl = "https://a.example"\n',
  ],

  'replacing a table keeps its header and the comment above, and takes its parts elsewhere along': [
    `${environment}# about x\n[ mcp_servers . "x" ] # mine\n# gone\ncommand = "old" # gone\n# stays\n\n[mcp_servers.x.env]\nA = "1"\n\n[z]\n`,
    put,
    `${environment}# about x\n[ mcp_servers . "x" ] # mine\n${lines}# stays\n\n[z]\n`,
  ],
  'replacing an inline table replaces what is in its braces': [
    '[mcp_servers]\nx = { command = "old" } # mine\n',
    put,
    `[mcp_servers]\nx = ${inline} # mine\n`,
  ],
  'replacing dotted keys leaves one line': [
    'mcp_servers.x.command = "old"\na = 1\nmcp_servers.x.args = []\n',
    put,
    `mcp_servers.x = ${inline}\na = 1\n`,
  ],
  'replacing what has only sub-tables gives it a table': [
    '[mcp_servers.x.env]\nA = "1"\n[mcp_servers.x.headers]\nB = "1"\n',
    put,
    `[mcp_servers.x]\n${lines}`,
  ],
  'replacing an element of a list keeps its name': [
    '[[servers]]\nid = "x"\ncommand = "old"\n[[servers]]\nname = "b"\n',
    put,
    `[[servers]]\nid = "x"\n${lines}[[servers]]\nname = "b"\n`,
  ],

  'removing takes all tables of the entry and the comment directly above': [
    `${environment}# far\n\n# about x\n# still\n[mcp_servers.x]\n# inside\ncommand = "old"\n# below\n\n[a]\n\n[mcp_servers.x.env] # e\nA = "1"\n\n[b]\n`,
    ['remove', 'x'],
    `${environment}# far\n\n# below\n\n[a]\n\n[b]\n`,
  ],
  'removing takes a quoted name, and no other with the same beginning': [
    '[mcp_servers."x"]\ncommand = "1"\n[mcp_servers.xy]\ncommand = "2"\n[mcp_servers."x.y"]\ncommand = "3"\n',
    ['remove', 'x'],
    '[mcp_servers.xy]\ncommand = "2"\n[mcp_servers."x.y"]\ncommand = "3"\n',
  ],
  'removing takes a line of a table': [
    '[mcp_servers]\n# about a\na = { command = "a" }\n# about x\nx = { command = "x" } # x\n# about b\nb.command = "b"\n',
    ['remove', 'x'],
    '[mcp_servers]\n# about a\na = { command = "a" }\n# about b\nb.command = "b"\n',
  ],
  'removing takes dotted keys wherever they are': [
    'mcp_servers.x.command = "x"\nkeep = """\n# no comment"""\nmcp_servers."x".args = [\n  # in\n]\nlast = 1\n',
    ['remove', 'x'],
    'keep = """\n# no comment"""\nlast = 1\n',
  ],
  'removing from braces takes one comma': [
    'mcp_servers = { a = {}, x = { command = "x" }, b = {} }\n',
    ['remove', 'x'],
    'mcp_servers = { a = {}, b = {} }\n',
  ],
  'removing the last from braces takes the comma before': [
    'mcp_servers = { a = { url = "u" }, x = { command = "x" } }\n',
    ['remove', 'x'],
    'mcp_servers = { a = { url = "u" } }\n',
  ],
  'removing the only one leaves empty braces': [
    'mcp_servers = { x = { command = "x" } }\n',
    ['remove', 'x'],
    'mcp_servers = {}\n',
  ],
  'removing from a list takes the right one': [
    '[[servers]]\nname = "a"\n[servers.env]\nA = "a"\n\n# about x\n[[servers]]\nname = "x"\n[servers.env]\nA = "x"\n\n[[servers]]\nname = "b"\n',
    ['remove', 'x'],
    '[[servers]]\nname = "a"\n[servers.env]\nA = "a"\n\n[[servers]]\nname = "b"\n',
  ],
  'removing takes the twin in another map too': [
    '[mcp_servers.x]\ncommand = "1"\n\n[servers.x]\ncommand = "2"\n\n[servers.y]\ncommand = "3"\n',
    ['remove', 'x'],
    '[servers.y]\ncommand = "3"\n',
  ],
  'removing the only entry empties the file': ['[mcp_servers.x]\ncommand = "x"', ['remove', 'x'], ''],

  'disabling adds one line to the table': [
    '[mcp_servers.x]\n\tcommand = "x" # c\n\n[mcp_servers.x.env]\nA = "1"\n',
    ['disable', 'x'],
    '[mcp_servers.x]\n\tcommand = "x" # c\n\tenabled = false\n\n[mcp_servers.x.env]\nA = "1"\n',
  ],
  'disabling uses the word that is there, whichever way round': [
    '[mcp_servers.x]\ncommand = "x"\ndisabled   =   false   # mine\n',
    ['disable', 'x'],
    '[mcp_servers.x]\ncommand = "x"\ndisabled   =   true   # mine\n',
  ],
  'enabling uses the word that is there': [
    '[mcp_servers.x]\nenabled = false\ncommand = "x"\n',
    ['enable', 'x'],
    '[mcp_servers.x]\nenabled = true\ncommand = "x"\n',
  ],
  'disabling an inline table adds to its braces': [
    'mcp_servers = {x = {command = "x"}}\n',
    ['disable', 'x'],
    'mcp_servers = {x = {command = "x", enabled = false}}\n',
  ],
  'disabling dotted keys adds one': [
    '[mcp_servers]\nx.command = "x"\nx.args = []\ny.command = "y"\n',
    ['disable', 'x'],
    '[mcp_servers]\nx.command = "x"\nx.args = []\nx.enabled = false\ny.command = "y"\n',
  ],
  'disabling what has only sub-tables gives it a table': [
    '# about\n[mcp_servers.x.env]\nA = "1"\n',
    ['disable', 'x'],
    '[mcp_servers.x]\nenabled = false\n\n# about\n[mcp_servers.x.env]\nA = "1"\n',
  ],
  'enabling what says nothing changes nothing': ['[mcp_servers.x]\ncommand = "x"\n', ['enable', 'x'], 'unchanged'],
  'disabling twice changes nothing': ['[mcp_servers.x]\nenabled = false\n', ['disable', 'x'], 'unchanged'],
  'what is not there cannot be removed': ['[mcp_servers.xy]\ncommand = "x"\n', ['remove', 'x'], 'absent'],
};

describe('a TOML file', () => {
  for (const [sentence, [before, verb, after]] of Object.entries(cases))
    verifies('EXT-19', sentence, async () => expect(await edit('mcp.toml', before, verb)).toBe(after));
});
