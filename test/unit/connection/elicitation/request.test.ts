// Owns the proof of which elicitations a server may send: what is shown of them, how, and what is refused unseen.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FormField } from '../../../../src/connection/elicitation/form.ts';
import { readElicitation } from '../../../../src/connection/elicitation/request.ts';
import { hidesAnything, hidesSomething } from '../../../../src/kernel/clean-text.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';
import { limits } from '../../../../src/model/limits.ts';
import { verifies } from '../../../verifies.ts';

const read = (params: JsonObject) => {
  const { server, ...question } = readElicitation('files', params);
  expect(server).toBe('files');
  return question;
};
const formOf = (properties: unknown, more: JsonObject = {}) => ({
  message: 'Who?',
  requestedSchema: { type: 'object', properties, ...more },
});
const fieldOf = (field: unknown): FormField | undefined => {
  const question = read(formOf({ it: field }));
  return question.mode === 'form' ? question.requestedSchema.properties['it'] : undefined;
};
const refused = (params: JsonObject) => {
  try {
    return read(params);
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
};

describe('a form', () => {
  verifies('EXT-02', 'is shown with every kind of field that the protocol knows', () => {
    const fields: FormField[] = [
      { type: 'string', title: 'Name', description: 'Yours', minLength: 1, maxLength: 50, default: 'Ada' },
      { type: 'string', format: 'email', default: 'ada@example.com' },
      { type: 'number', minimum: 0, maximum: 1.5, default: 0.5 },
      { type: 'integer', exclusiveMinimum: 0, multipleOf: 5, default: 5 },
      { type: 'boolean', default: false },
      { type: 'string', enum: ['r', 'g'], default: 'g' },
      { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] },
      { type: 'string', oneOf: [{ const: 'r', title: 'Red' }, { const: 'g' }], default: 'r' },
      { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1, maxItems: 2, default: ['a'] },
      { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
    ];
    const properties = Object.fromEntries(fields.map((field, at) => [`f${at}`, field]));
    expect(read(formOf(properties, { required: ['f0', 'f1', 'f0'] }))).toEqual({
      mode: 'form',
      message: 'Who?',
      requestedSchema: { type: 'object', properties, required: ['f0', 'f1'] },
      asksForSecret: false,
    });
    expect(read({ mode: 'form', ...formOf({}) })).toMatchObject({ requestedSchema: { properties: {} } });
  });

  const wrong: Record<string, JsonObject> = {
    'without a schema': { message: 'Who?' },
    'with a schema that is none': { message: 'Who?', requestedSchema: 'all' },
    'of another type': { message: 'Who?', requestedSchema: { type: 'array', properties: {} } },
    'without properties': { message: 'Who?', requestedSchema: { type: 'object' } },
    'without a message': { requestedSchema: { type: 'object', properties: {} } },
    'with a message that is no text': { message: {}, requestedSchema: { type: 'object', properties: {} } },
    'of an unknown mode': { ...formOf({}), mode: 'voice' },
    'with a form in the form': formOf({ a: { type: 'object', properties: {} } }),
    'with a list of anything': formOf({ a: { type: 'array', items: { type: 'string' } } }),
    'with a list of forms': formOf({ a: { type: 'array', items: { type: 'object' } } }),
    'with a field of two types': formOf({ a: { type: ['string', 'null'] } }),
    'with a field of no type': formOf({ a: {} }),
    'with a field that is null': formOf({ a: null }),
    'with a reference': formOf({ a: { $ref: '#/$defs/a' } }),
    'with a choice of nothing': formOf({ a: { type: 'string', enum: [] } }),
    'with a choice of numbers': formOf({ a: { type: 'string', enum: [1] } }),
    'with a choice that is no list': formOf({ a: { type: 'string', oneOf: { const: 'a' } } }),
    'with a choice that drives a terminal': formOf({ a: { type: 'string', enum: ['\u001b[2J'] } }),
    'with too many choices': formOf({ a: { type: 'string', enum: Array.from({ length: 501 }, (_, at) => `${at}`) } }),
    'with bounds that are none': formOf({ a: { type: 'number', minimum: '0' } }),
    'with a step of nothing': formOf({ a: { type: 'number', multipleOf: 0 } }),
    'with a length that is none': formOf({ a: { type: 'string', maxLength: null } }),
    'with a name that changes objects': formOf(JSON.parse('{"__proto__": {"type": "string"}}')),
    'with a name that hides something': formOf({ 'na\u200bme': { type: 'string' } }),
    'with an endless name': formOf({ ['a'.repeat(129)]: { type: 'string' } }),
    'with too many fields': formOf(
      Object.fromEntries(Array.from({ length: 51 }, (_, at) => [at, { type: 'boolean' }])),
    ),
    'that requires a field it does not have': formOf({ a: { type: 'string' } }, { required: ['b'] }),
    'that requires a property that every object inherits': formOf(
      { a: { type: 'string' } },
      { required: ['toString'] },
    ),
    'that requires no list': formOf({ a: { type: 'string' } }, { required: 'a' }),
  };
  for (const [what, params] of Object.entries(wrong))
    verifies('EXT-02', `${what} is refused, and not shown`, () => expect(refused(params)).toBe(-32602));

  test('keeps only the known keywords of a field', () => {
    const field = {
      type: 'string',
      pattern: '(a+)+$',
      format: 'hostname',
      $ref: '#',
      allOf: [{}],
      title: 7,
      minLength: 2,
    };
    expect(fieldOf(field)).toEqual({ type: 'string', minLength: 2 });
    expect(fieldOf({ type: 'string', enum: ['a', 'b', 'a'], enumNames: ['A'] })).toEqual({
      type: 'string',
      enum: ['a', 'b'],
    });
  });

  test('proposes nothing that does not fit its own field, or cannot be shown', () => {
    for (const field of [
      { type: 'string', format: 'email', default: '' },
      { type: 'integer', default: 'one' },
      { type: 'string', enum: ['a'], default: 'b' },
      { type: 'array', items: { type: 'string', enum: ['a'] }, default: ['b'] },
      { type: 'string', default: '\u202eevil' },
      { type: 'boolean', default: null },
    ])
      expect(fieldOf(field)).not.toHaveProperty('default');
  });

  const secrets: Record<string, [asks: boolean, params: JsonObject]> = {
    'a password': [true, formOf({ password: { type: 'string' } })],
    'an API key, in one word': [true, formOf({ githubApiKey: { type: 'string' } })],
    'a token, by its title': [true, formOf({ value: { type: 'string', title: 'Access token' } })],
    'a passphrase, by its description': [true, formOf({ value: { type: 'string', description: 'Your pass-phrase.' } })],
    'what is typed in secret': [true, formOf({ value: { type: 'string', format: 'password' } })],
    'a secret, by the message': [true, { ...formOf({ value: { type: 'string' } }), message: 'Enter your API key' }],
    'a number of tokens': [false, formOf({ max_tokens: { type: 'integer' } })],
    'which of some keys': [false, formOf({ api_key: { type: 'string', enum: ['mine', 'ours'] } })],
    'a name and an address': [false, formOf({ name: { type: 'string' }, email: { type: 'string', format: 'email' } })],
    'a keyboard and a tokenizer': [false, formOf({ keyboard: { type: 'string' }, tokenizer: { type: 'string' } })],
  };
  for (const [what, [asksForSecret, params]] of Object.entries(secrets))
    verifies('EXT-02', `that asks for ${what} is ${asksForSecret ? '' : 'not '}marked as one for a secret`, () =>
      expect(read(params)).toMatchObject({ asksForSecret }),
    );
});

describe('a message', () => {
  verifies('EXT-02', 'is shown without invisible characters and terminal sequences, and cut to a length', () => {
    const message = 'Pay\u001b[2K \u202eevil\u202c \u200bnow\u0007\r\nYours';
    expect(read({ ...formOf({}), message })).toMatchObject({ message: 'Pay evil now\nYours' });
    const cut = read({ ...formOf({}), message: '😀'.repeat(1_000_000) }).message;
    expect([cut.length <= limits.elicitation.messageChars + 1, hidesSomething(cut), cut.at(-1)]).toEqual([
      true,
      false,
      '…',
    ]);
  });

  test('and every other text of a question hides nothing, whatever a server sends', () => {
    const text = fc.string({ unit: 'binary' });
    const field = fc.oneof(
      fc.record({ type: fc.constant('string'), title: text, description: text, default: text }),
      fc.record({ type: fc.constant('string'), enum: fc.array(text, { minLength: 1 }), enumNames: fc.array(text) }),
      fc.record({
        type: fc.constant('array'),
        items: fc.record({ anyOf: fc.array(fc.record({ const: text, title: text })) }),
      }),
    );
    const params = fc.record({ message: text, properties: fc.dictionary(text, field, { maxKeys: 3 }) });
    fc.assert(
      fc.property(params, ({ message, properties }) => {
        const question = refused({ ...formOf(properties), message });
        expect(question === -32602 || !hidesAnything(question)).toBe(true);
      }),
    );
  });
});

describe('a page', () => {
  const page = (url: unknown) => ({ mode: 'url', message: 'Log in', url });

  const shown: Record<string, [url: string, as: string, host: string]> = {
    'at https': ['https://a.example/x?y=1#z', 'https://a.example/x?y=1#z', 'a.example'],
    'with a port': ['https://a.example:8443', 'https://a.example:8443/', 'a.example:8443'],
    'on this machine': ['http://127.0.0.1:80/x', 'http://127.0.0.1/x', '127.0.0.1'],
    'on this machine, by name': ['http://localhost:3000/', 'http://localhost:3000/', 'localhost:3000'],
    'on this machine, in IPv6': ['http://[::1]:3000/', 'http://[::1]:3000/', '[::1]:3000'],
    'whose host only looks familiar': ['https://аpple.com/', 'https://xn--pple-43d.com/', 'xn--pple-43d.com'],
    'whose address breaks lines': ['https://a.exa\nmple/\u001b[2J', 'https://a.example/%1B[2J', 'a.example'],
  };
  for (const [what, [url, as, host]] of Object.entries(shown))
    verifies('EXT-02', `${what} is shown with where it leads`, () =>
      expect(read(page(url))).toEqual({ mode: 'url', message: 'Log in', url: as, host, awaitsCompletion: false }),
    );

  const refusedPages: Record<string, unknown> = {
    'over plain http': 'http://a.example/',
    'that only begins like this machine': 'http://127.0.0.1.evil.example/',
    'that is a file': 'file:///etc/passwd',
    'that runs': 'javascript:alert(1)',
    'that is data': 'data:text/html,<script>',
    'that starts a program': 'vscode://open',
    'with a password': 'https://user:secret@a.example/',
    'with a name that looks like a host': 'https://good.example@evil.example/',
    'that is no address': 'a.example',
    'without an address': undefined,
    'with an endless address': `https://a.example/${'x'.repeat(9_000)}`,
  };
  for (const [what, url] of Object.entries(refusedPages))
    verifies('EXT-02', `${what} is refused, and not shown`, () => expect(refused(page(url))).toBe(-32602));
});
