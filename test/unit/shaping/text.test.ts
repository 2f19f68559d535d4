// Owns the proof that every kind of content is understood: text word for word, binary data as an attachment and never as text.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Attachment, SentBlock } from '../../../src/model/tool.ts';
import { extractText } from '../../../src/shaping/text.ts';
import { verifies } from '../../verifies.ts';

const base64 = Buffer.alloc(3_000, 7).toString('base64');

const blocks: Record<string, [block: SentBlock, text: string, attachments: Attachment[]]> = {
  text: [{ type: 'text', text: 'plain' }, 'plain', []],
  'an image': [
    { type: 'image', data: base64, mimeType: 'image/png' },
    '[image image/png 3 KB]',
    [{ kind: 'image', mimeType: 'image/png', size: 3_000, data: base64 }],
  ],
  audio: [
    { type: 'audio', data: base64, mimeType: 'audio/wav' },
    '[audio audio/wav 3 KB]',
    [{ kind: 'audio', mimeType: 'audio/wav', size: 3_000, data: base64 }],
  ],
  'a resource that is text': [
    { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'what it says' } },
    'what it says',
    [{ kind: 'resource', mimeType: 'text/plain', uri: 'file:///a.txt' }],
  ],
  'a resource that is binary': [
    { type: 'resource', resource: { uri: 'file:///a.pdf', mimeType: 'application/pdf', blob: base64 } },
    '[resource application/pdf file:///a.pdf 3 KB]',
    [{ kind: 'resource', mimeType: 'application/pdf', uri: 'file:///a.pdf', size: 3_000, data: base64 }],
  ],
  'a link to a resource': [
    {
      type: 'resource_link',
      uri: 'file:///b.txt',
      name: 'b',
      title: 'The second',
      description: 'comes\nafter a',
      mimeType: 'text/plain',
      size: 12,
    },
    '[link text/plain file:///b.txt "The second" 12 bytes (comes after a)]',
    [
      {
        kind: 'link',
        mimeType: 'text/plain',
        uri: 'file:///b.txt',
        name: 'b',
        title: 'The second',
        description: 'comes\nafter a',
        size: 12,
      },
    ],
  ],
};

for (const [sentence, [block, text, attachments]] of Object.entries(blocks)) {
  verifies('OUT-01', `${sentence} is understood, alone and among others`, () => {
    expect(extractText([block], undefined)).toEqual({ text, attachments });
    expect(extractText([{ type: 'text', text: 'first' }, block], undefined)).toEqual({
      text: `first\n${text}`,
      attachments,
    });
  });
}

verifies('OUT-01', 'structured content without a text is shown as JSON', () => {
  expect(extractText([], { a: [1, 'x'] })).toEqual({ text: '{"a":[1,"x"]}', attachments: [] });
  expect(extractText([], undefined)).toEqual({ text: '', attachments: [] });
});

verifies('OUT-02', 'text is passed on word for word, joined by line breaks', () => {
  const anyText = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(fc.array(anyText), (texts) => {
      const content = texts.map((text) => ({ type: 'text', text }));
      expect(extractText(content, undefined)).toEqual({ text: texts.join('\n'), attachments: [] });
    }),
  );
});

verifies('OUT-02', 'what is of no known kind, or not as its kind should be, is shown as JSON', () => {
  const odd: SentBlock[] = [
    { type: 'hologram', rays: 3 },
    { type: 'text', text: 42 },
    { type: 'image', mimeType: 'image/png' },
    { type: 'resource', resource: 'none' },
    { type: 'resource_link', uri: 7 },
  ];
  expect(extractText(odd, undefined)).toEqual({
    text: odd.map((block) => JSON.stringify(block)).join('\n'),
    attachments: [],
  });
});

verifies('OUT-03', 'binary data never becomes text, wherever it stands but in a text', () => {
  const content = Object.values(blocks).map(([block]) => block);
  const odd = [
    { type: 'video', data: base64, mimeType: 'video/mp4' },
    { type: 'image', data: `data:image/png;base64,${base64}` },
    { type: 'image', data: base64.replace(/(.{76})/g, '$1\r\n') },
    { type: 'resource_link', uri: `data:image/png;base64,${base64}` },
    { type: 'x', inside: [{ page: `<img src="data:image/png;base64,${base64}">` }] },
  ];
  const structured = { data: base64, deep: [{ type: 'image', data: 'aGVsbG8gd29ybGQ=', mimeType: 'image/png' }] };
  const { text } = extractText([...content, ...odd], structured);
  expect(text).not.toContain(base64.slice(0, 20));
  expect(text).not.toContain('aGVsbG8g');
  expect(text).toContain('{"data":"[base64, 3000 bytes]"');
  expect(text).toContain('data:image/png;[base64, 3000 bytes]');
});

verifies(
  'OUT-02',
  'data in any spelling of base64 becomes the usual one; what is none stays out of the attachment',
  () => {
    const bytes = Buffer.from([251, 255, 254, 1]);
    const spellings = [
      bytes.toString('base64'),
      bytes.toString('base64url'),
      `data:image/png;base64,${bytes.toString('base64')}`,
      '+//+\r\nAQ==',
    ];
    for (const data of spellings)
      expect(extractText([{ type: 'image', mimeType: 'image/png', data }], undefined)).toEqual({
        text: '[image image/png 4 bytes]',
        attachments: [{ kind: 'image', mimeType: 'image/png', size: 4, data: '+//+AQ==' }],
      });
    for (const data of ['not base64!', 'abcde', '====', 'a\u{1f388}'])
      expect(extractText([{ type: 'image', mimeType: 'image/png', data }], undefined)).toEqual({
        text: '[image image/png whose data is not base64]',
        attachments: [{ kind: 'image', mimeType: 'image/png' }],
      });
  },
);

test('names and addresses stay on one line, and are no longer than they should be', () => {
  const { text } = extractText(
    [{ type: 'resource_link', uri: `x:\n\u001b[2J\u0085${'y'.repeat(9_000)}`, name: 'a\r\nb' }],
    undefined,
  );
  expect(text).toMatch(/^\[link x: \[2J y{400,500}\.\.\. "a b"\]$/);
});

test('half a character in a text becomes the sign for one that is broken; the blocks keep it', () => {
  const content = [{ type: 'text', text: 'a\ud83cb\udf88' }];
  expect(extractText(content, undefined).text).toBe('a\ufffdb\ufffd');
  expect(extractText([...content, ...content], undefined).text).toBe('a\ufffdb\ufffd\na\ufffdb\ufffd');
  expect(extractText([{ type: 'text', text: 'a\u{1f388}b' }], undefined).text).toBe('a\u{1f388}b');
});

verifies(
  'OUT-02',
  'two hundred thousand blocks are read in a moment; of those that are no text a thousand are shown',
  () => {
    const many = (block: SentBlock) => Array.from({ length: 200_000 }, () => block);
    const before = process.cpuUsage();
    expect(extractText(many({ type: 'text', text: 'x' }), { a: 1 }).text.length).toBe(400_007);
    const { text, attachments } = extractText(many({ type: 'image', data: 'AAAA', mimeType: 'image/png' }), undefined);
    expect(attachments.length).toBe(1_000);
    expect(text.endsWith('[image image/png 3 bytes]\n[199000 more blocks left out]')).toBe(true);
    expect(extractText(many({ type: 'odd' }), undefined).text.split('\n').length).toBe(1_001);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000, 'milliseconds').toBeLessThan(8_000);
  },
);
