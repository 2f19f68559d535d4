// Owns the marks that belong to the frame of a conversation and have no business inside a text: template tokens, and the end
// of a wrapper. A plain string is looked for first: that costs next to nothing.

import type { Findings } from './finding.ts';

const token = /<\|\s{0,2}\/?[a-z_][a-z0-9_ ]{1,30}\|>/iy;
const wrapperEnd =
  /<\/\s{0,4}((?:mcp_|untrusted_)?(?:tool|function)_?(?:outputs?|results?|responses?|calls?)|system(?:_prompt)?|user_(?:input|data|message|query)|untrusted\w{0,20}|instructions?|context)\s{0,4}>/iy;

export function findMarks(text: string, found: Findings): void {
  findTokens(text, found);
  findWrapperEnds(text, found);
}

function findTokens(text: string, found: Findings): void {
  const name = 'chat-template-token';
  for (let at = text.indexOf('<|'); at >= 0 && !found.isFull(name); at = text.indexOf('<|', at + 2)) {
    token.lastIndex = at;
    if (token.test(text)) found.add(name, at, token.lastIndex);
  }
}

/** An end without its beginning closes something that stands outside the text. */
function findWrapperEnds(text: string, found: Findings): void {
  const name = 'closes-wrapper';
  const openedAt = new Map<string, number>();
  for (let at = text.indexOf('</'); at >= 0 && !found.isFull(name); at = text.indexOf('</', at + 2)) {
    wrapperEnd.lastIndex = at;
    const tag = wrapperEnd.exec(text)?.[1];
    if (tag === undefined) continue;
    const opened = openedAt.get(tag) ?? text.indexOf(`<${tag}`);
    openedAt.set(tag, opened);
    if (opened < 0 || opened > at) found.add(name, at, at + tag.length + 3);
  }
}
