// Owns finding marks of the conversation's frame that do not belong into a text: chat template tokens, and the closing tag of a
// wrapper. Searches for a plain string before it runs a pattern, which costs next to nothing.

import type { SignalMatches } from './signal-matches.ts';

const token = /<\|\s{0,2}\/?[a-z_][a-z0-9_ ]{1,30}\|>/iy;
const wrapperEnd =
  /<\/\s{0,4}((?:mcp_|untrusted_)?(?:tool|function)_?(?:outputs?|results?|responses?|calls?)|system(?:_prompt)?|user_(?:input|data|message|query)|untrusted\w{0,20}|instructions?|context)\s{0,4}>/iy;

export function findMarks(text: string, matches: SignalMatches): void {
  findTokens(text, matches);
  findWrapperEnds(text, matches);
}

function findTokens(text: string, matches: SignalMatches): void {
  const name = 'chat-template-token';
  for (let at = text.indexOf('<|'); at >= 0 && !matches.isFull(name); at = text.indexOf('<|', at + 2)) {
    token.lastIndex = at;
    if (token.test(text)) matches.add(name, at, token.lastIndex);
  }
}

/** A closing tag without its opening tag closes a wrapper around the text. */
function findWrapperEnds(text: string, matches: SignalMatches): void {
  const name = 'closes-wrapper';
  let at = text.indexOf('</');
  if (at < 0) return;
  const openedAt = new Map<string, number>();
  for (; at >= 0 && !matches.isFull(name); at = text.indexOf('</', at + 2)) {
    wrapperEnd.lastIndex = at;
    const tag = wrapperEnd.exec(text)?.[1];
    if (tag === undefined) continue;
    const opened = openedAt.get(tag) ?? text.indexOf(`<${tag}`);
    openedAt.set(tag, opened);
    if (opened < 0 || opened > at) matches.add(name, at, at + tag.length + 3);
  }
}
