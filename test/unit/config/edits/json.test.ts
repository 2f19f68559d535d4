// Owns the proof that a JSON file is edited in the form its author chose, and keeps everything else, comments included.

import { describe, expect } from 'vitest';
import { verifies } from '../../../verifies.ts';
import { edit, type Verb } from './texts.ts';

const put: Verb = ['put', 'x', { command: 'npx', args: ['-y', 'x'], env: { KEY: 'v' }, startup_timeout_ms: 5 }];

/** The entry as text, with its first line indented by so many units. */
const entry = (depth: number, unit = '  ', eol = '\n') =>
  `{
  "command": "npx",
  "args": ["-y", "x"],
  "env": {
    "KEY": "v"
  },
  "startupTimeoutMs": 5
}`
    .replace(/^( +)/gm, (spaces) => unit.repeat(spaces.length / 2))
    .replaceAll('\n', eol + unit.repeat(depth));
const short = '{ "command": "npx", "args": ["-y", "x"], "env": { "KEY": "v" }, "startupTimeoutMs": 5 }';
const minified = short.replaceAll(' ', '');

const cases: Readonly<Record<string, readonly [before: string, verb: Verb, after: string]>> = {
  'a new file gets a map': ['', put, `{\n  "mcpServers": {\n    "x": ${entry(2)}\n  }\n}\n`],
  'a file of comments keeps them': [
    '// mine\n/* and\nmine */',
    put,
    `// mine\n/* and\nmine */\n{\n  "mcpServers": {\n    "x": ${entry(2)}\n  }\n}\n`,
  ],
  'an empty object gets a map': ['{}\n', put, `{\n  "mcpServers": {\n    "x": ${entry(2)}\n  }\n}\n`],
  'a map is added to what the file says already': [
    '{\n\t"plexus": {}\n}',
    put,
    `{\n\t"plexus": {},\n\t"mcpServers": {\n\t\t"x": ${entry(2, '\t')}\n\t}\n}`,
  ],
  'a map that says nothing is filled': [
    '{\n  "mcpServers": null // none\n}\n',
    put,
    `{\n  "mcpServers": {\n    "x": ${entry(2)}\n  } // none\n}\n`,
  ],
  'an empty map is filled': [
    '{\n    "mcpServers": {}\n}\n',
    put,
    `{\n    "mcpServers": {\n        "x": ${entry(2, '    ')}\n    }\n}\n`,
  ],
  'an empty map keeps its comment': [
    '{\n  "servers": {\n    // none yet\n  }\n}\n',
    put,
    `{\n  "servers": {\n    // none yet\n\n    "x": ${entry(2)}\n  }\n}\n`,
  ],
  'a new entry goes to the end, and comments stay where they are': [
    '{\n  "mcpServers": {\n    "a": { "command": "a" } // about a\n    // "old": {}\n  }\n}\n',
    put,
    `{\n  "mcpServers": {\n    "a": { "command": "a" }, // about a\n    // "old": {}\n\n    "x": ${entry(2)}\n  }\n}\n`,
  ],
  'trailing commas are kept up': [
    '{\n  "mcpServers": {\n    "a": { "command": "a" }, // about a\n  },\n}\n',
    put,
    `{\n  "mcpServers": {\n    "a": { "command": "a" }, // about a\n    "x": ${entry(2)},\n  },\n}\n`,
  ],
  'what stands on one line stays on one line': [
    '{ "mcpServers": { "a": { "command": "a" } } }\n',
    put,
    `{ "mcpServers": { "a": { "command": "a" }, "x": ${short} } }\n`,
  ],
  'what has no spaces gets none': [
    '{"mcpServers":{"a":{"command":"a"}}}',
    put,
    `{"mcpServers":{"a":{"command":"a"},"x":${minified}}}`,
  ],
  'CRLF stays CRLF': [
    '{\r\n  "mcpServers": {\r\n    "a": {}\r\n  }\r\n}\r\n',
    put,
    `{\r\n  "mcpServers": {\r\n    "a": {},\r\n    "x": ${entry(2, '  ', '\r\n')}\r\n  }\r\n}\r\n`,
  ],
  'a byte order mark stays': ['\uFEFF{"mcpServers":{"a":{}}}', put, `\uFEFF{"mcpServers":{"a":{},"x":${minified}}}`],
  'a list gets one more, with its name': [
    '{\n  "servers": [\n    { "name": "a" }\n  ]\n}\n',
    put,
    `{\n  "servers": [\n    { "name": "a" },\n    ${entry(2).replace('"command"', '"name": "x",\n      "command"')}\n  ]\n}\n`,
  ],
  'mcp.servers is used': [
    '{"mcp":{"servers":{"a":{"command":"a"}}}}',
    put,
    `{"mcp":{"servers":{"a":{"command":"a"},"x":${minified}}}}`,
  ],
  'a dotted key is used': [
    '{"mcp.servers":{"a":{"command":"a"}}}',
    put,
    `{"mcp.servers":{"a":{"command":"a"},"x":${minified}}}`,
  ],
  'context_servers is used': [
    '{"context_servers":{"a":{"command":"a"}}}',
    put,
    `{"context_servers":{"a":{"command":"a"},"x":${minified}}}`,
  ],
  'mcp itself is used where it holds servers': [
    '{"mcp":{"a":{"command":"a"}}}',
    put,
    `{"mcp":{"a":{"command":"a"},"x":${minified}}}`,
  ],
  'servers without a map around them get one more': [
    '{"a":{"command":"a"}}',
    put,
    `{"a":{"command":"a"},"x":${minified}}`,
  ],
  'a name is quoted as JSON quotes': [
    '{"mcpServers":{}}',
    ['put', 'a.b "c"\\ é', { url: 'https://a.example' }],
    '{"mcpServers":{"a.b \\"c\\"\\\\ é":{"url":"https://a.example"}}}',
  ],

  'replacing keeps the key and everything around': [
    '{\n  "mcpServers": {\n    // about x\n    "x" :  { "command": "old", /* gone */ }, // mine\n    "b": {}\n  }\n}\n',
    put,
    `{\n  "mcpServers": {\n    // about x\n    "x" :  ${entry(2)}, // mine\n    "b": {}\n  }\n}\n`,
  ],
  'replacing on one line stays there': [
    '{ "mcpServers": { "x": { "command": "old" } } }',
    put,
    `{ "mcpServers": { "x": ${short} } }`,
  ],
  'replacing a key that is written twice replaces the one that counts': [
    '{"mcpServers":{"x":{"command":"1"},"x":{"command":"2"}}}',
    ['put', 'x', { command: '3' }],
    '{"mcpServers":{"x":{"command":"1"},"x":{"command":"3"}}}',
  ],
  'replacing an element of a list keeps its name': [
    '{"servers":[{"id":"x","command":"old"},{"name":"b"}]}',
    ['put', 'x', { command: 'new' }],
    '{"servers":[{"id":"x","command":"new"},{"name":"b"}]}',
  ],

  'removing takes the comment directly above and the rest of the line': [
    '{\n  "mcpServers": {\n    "a": {}, // about a\n    // far\n\n    // about x\n    /* still\n       x */\n    "x": { "command": "x" }, // x\n    // about b\n    "b": {}\n  }\n}\n',
    ['remove', 'x'],
    '{\n  "mcpServers": {\n    "a": {}, // about a\n    // far\n\n    // about b\n    "b": {}\n  }\n}\n',
  ],
  'removing the last takes the comma before, and no comment of its neighbor': [
    '{\n  "mcpServers": {\n    "a": {}, // about a\n    "x": {\n      "command": "x"\n    } // x\n    // far\n  }\n}\n',
    ['remove', 'x'],
    '{\n  "mcpServers": {\n    "a": {} // about a\n    // far\n  }\n}\n',
  ],
  'removing the last of those with trailing commas leaves the comma before': [
    '{\n  "mcpServers": {\n    "a": {},\n    "x": {},\n  },\n}\n',
    ['remove', 'x'],
    '{\n  "mcpServers": {\n    "a": {},\n  },\n}\n',
  ],
  'removing the first': ['{ "mcpServers": { "x": {}, "a": {} } }', ['remove', 'x'], '{ "mcpServers": { "a": {} } }'],
  'removing from the middle': [
    '{"mcpServers":{"a":{},"x":{},"b":{}}}',
    ['remove', 'x'],
    '{"mcpServers":{"a":{},"b":{}}}',
  ],
  'removing the only one leaves an empty map': [
    '{\n  "mcpServers": {\n    "x": {\n      "command": "x"\n    }\n  }\n}\n',
    ['remove', 'x'],
    '{\n  "mcpServers": {}\n}\n',
  ],
  'removing the only one leaves what is said besides': [
    '{\n  "mcpServers": {\n    // mine\n\n    "x": {}\n  }\n}\n',
    ['remove', 'x'],
    '{\n  "mcpServers": {\n    // mine\n  }\n}\n',
  ],
  'removing takes a key that is written twice, twice': [
    '{"mcpServers":{"x":{"command":"1"},"a":{},"x":{"command":"2"}}}',
    ['remove', 'x'],
    '{"mcpServers":{"a":{}}}',
  ],
  'removing from a list': [
    '{"servers":[{"name":"a"},{"name":"x"},{"name":"x"}]}',
    ['remove', 'x'],
    '{"servers":[{"name":"a"}]}',
  ],
  'removing where brackets share the line': [
    '{ "mcpServers": { "a": {},\n    "x": { "command": "x" } }\n}\n',
    ['remove', 'x'],
    '{ "mcpServers": { "a": {} }\n}\n',
  ],

  'disabling adds one line': [
    '{\n  "mcpServers": {\n    "x": {\n      "command": "x" // c\n    }\n  }\n}\n',
    ['disable', 'x'],
    '{\n  "mcpServers": {\n    "x": {\n      "command": "x", // c\n      "enabled": false\n    }\n  }\n}\n',
  ],
  'disabling uses the word that is there, whichever way round': [
    '{"mcpServers":{"x":{"disabled": /* no */ false,"command":"x"}}}',
    ['disable', 'x'],
    '{"mcpServers":{"x":{"disabled": /* no */ true,"command":"x"}}}',
  ],
  'enabling makes two words agree': [
    '{"mcpServers":{"x":{"disabled":true,"isActive":false,"command":"x"}}}',
    ['enable', 'x'],
    '{"mcpServers":{"x":{"disabled":false,"isActive":true,"command":"x"}}}',
  ],
  'disabling uses a key that says nothing yet': [
    '{"mcpServers":{"x":{"command":"x","enabled":null}}}',
    ['disable', 'x'],
    '{"mcpServers":{"x":{"command":"x","enabled":false}}}',
  ],
  'disabling changes the entry that counts': [
    '{"mcpServers":{"x":{"command":"1"},"x":{"command":"2"}}}',
    ['disable', 'x'],
    '{"mcpServers":{"x":{"command":"1"},"x":{"command":"2","enabled":false}}}',
  ],
  'enabling what says nothing changes nothing': ['{"mcpServers":{"x":{}}}', ['enable', 'x'], 'unchanged'],
  'what is not there cannot be removed': ['{"mcpServers":{"xy":{}}}', ['remove', 'x'], 'absent'],
};

describe('a JSON file', () => {
  for (const [sentence, [before, verb, after]] of Object.entries(cases))
    verifies('EXT-19', sentence, async () => expect(await edit('.mcp.json', before, verb)).toBe(after));
});
