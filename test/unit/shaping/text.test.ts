// Owns the proof that every kind of content is understood: text word for word, binary data as an attachment and never as text.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Attachment, ContentBlock } from '../../../src/model/tool.ts';
import { extractText } from '../../../src/shaping/text.ts';
import { verifies } from '../../verifies.ts';

const base64 = Buffer.alloc(3_000, 7).toString('base64');

const blocks: Record<string, [block: ContentBlock, text: string, attachments: Attachment[]]> = {
  text: [{ type: 'text', text: 'plain' }, 'plain', []],
  'an image': [
    { type: 'image', data: base64, mimeType: 'image/png' },
    '[image image/png 3 KB]',
    [{ kind: 'image', mimeType: 'image/png', data: base64 }],
  ],
  audio: [
    { type: 'audio', data: base64, mimeType: 'audio/wav' },
    '[audio audio/wav 3 KB]',
    [{ kind: 'audio', mimeType: 'audio/wav', data: base64 }],
  ],
  'a resource that is text': [
    { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'what it says' } },
    'what it says',
    [{ kind: 'resource', mimeType: 'text/plain', uri: 'file:///a.txt' }],
  ],
  'a resource that is binary': [
    { type: 'resource', resource: { uri: 'file:///a.pdf', mimeType: 'application/pdf', blob: base64 } },
    '[resource application/pdf file:///a.pdf 3 KB]',
    [{ kind: 'resource', mimeType: 'application/pdf', uri: 'file:///a.pdf', data: base64 }],
  ],
  'a link to a resource': [
    { type: 'resource_link', uri: 'file:///b.txt', name: 'b', mimeType: 'text/plain' },
    '[link text/plain file:///b.txt]',
    [{ kind: 'link', mimeType: 'text/plain', uri: 'file:///b.txt' }],
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
  const odd: ContentBlock[] = [
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

test('binary data never becomes text', () => {
  const content = Object.values(blocks).map(([block]) => block);
  expect(extractText(content, undefined).text).not.toContain(base64.slice(0, 20));
});
