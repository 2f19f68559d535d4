// Owns the conditions that a signal rule can set for a phrase and the text around it. `rules/*.json` refers to them by name.
// The commonest words of English (the, to, from) are checked here and not in phrases: a phrase that waits for them costs time in
// every text.

type Conditions = Readonly<Record<string, RegExp>>;

/** The text just before the phrase. Sticky at its first character, so each is a lookbehind. */
export const before = {
  from: /(?<=\bfrom )/iy,
  yourOrThe: /(?<=\b(?:your|the) )/iy,
  /** The beginning of a line, a string, a comment or a sentence, with any opening signs. */
  lineStart: /(?<=(?:^|[\n\r"'`\]}*-]|(?<![->])>|\\[nr]|[.!?:] |\s{4})[[<(#*\s-]{0,8})/y,
  iAmTheOrYour: /(?<=\b(?:i am|i'm) (?:the|your) )/iy,
  thisIsA: /(?<=\bthis is (?:an?|my) )/iy,
  templateBracket: /(?<=\[\/?|<<\/?|<(?:start|end)_of_)/y,
  hashes: /(?<=### ?)/y,
  openingSign: /(?<=[[<({#*_-]\s{0,2}_?)/y,
  openingBracket: /(?<=[[<])/y,
  if: /(?<=\bif )/iy,
  asAn: /(?<=\bas an? (?:ai |language |helpful )?)/iy,
  /** The beginning of a request that stands alone: lists and quotes of sample requests are ordinary text. */
  requestStart: /(?<=(?:^|[\n\r]|\\[nr]|[.!?:]\s|":\s?"|\s{4})\s{0,4})/y,
  in: /(?<=\bin )/iy,
  useThis: /(?<=\b(?:use|using|prefer|choose|select|call) this )/iy,
  to: /(?<=\bto )/iy,
} satisfies Conditions;

/** The phrase itself, from its first word to its last. */
export const written = {
  asFromOrOf: /\b(?:as|from|of)\b/i,
  fromSomebodyToSomebody: /\bfrom\b.{1,40}\bto\b/is,
  fromForOrTo: /\b(?:from|for|to)\b/i,
  roleLabel:
    /^(?:SYSTEM|[Ss]ystem (?:[mM]essage|[oO]verride|[iI]nstruction|[dD]irective|[aA]lert)|ADMIN|DEVELOPER|ASSISTANT|Assistant|Human|AI|LLM|AI (?:[aA]gent|[aA]ssistant))$/,
  templateWord: /^(?:INST|SYS|turn)$/,
  capitalsAndSigns: /^[A-Z_ -]+$/,
  capitalsOrImportant: /^[A-Z]+$|^[Ii]mportant$/,
  capitals: /^[A-Z]+$/,
  toOrFor: /\b(?:to|for)\b/i,
  youAreA: /^you are (?:an? |the |\w+ language )/i,
  /** Not "please see", "please note" and the like. */
  notPolitePhrase:
    /^\w+ (?!see|check|support|read|star|visit|consider|refer|note|feel|let|follow|look|excuse|forgive|do|don)/i,
  negation: /n[o']t|never|without|avoid/i,
} satisfies Conditions;

/** The text just behind the phrase. Sticky at its end. */
export const after = {
  isOrAre: / (?:is|are|follows|as follows)\b/iy,
  colon: /['"*\]\s]{0,6}:/y,
  nextOrder:
    /(?:[\s.!,;"'*-]|\\[nrt]){0,12}(?:please|now|new|ignore|then|your|i|proceed|here|but|you|forget|disregard)\b/iy,
  noQuote: /(?!["'”’])/y,
  speech: /[\]>*)]{0,4}: {0,4}["'*]{0,4}[A-Za-z]/y,
  closingBracket: /[\]>]/y,
  headingColon: / ?:/y,
  closingSign: /_?\s{0,2}[\]>)}*:-]/y,
  closingBracketOfTag: /[\]>](?!\s{0,4}\w{1,20}\s?=)/y,
  threeExclamationMarks: /!!!/y,
  colonOrComma: /(?: \w{2,10})?[:,—-]/y,
  number: /\s?[:#]?\s?[A-Z]{0,3}\d{2}/y,
  inOrUsing: / (?:in|using|as|with|backward)/y,
  thisInstruction: /\s(?:this|these|that|it)\b[^.\n]{0,18}?\b(?:instructions?|message|to|tool)\b/iy,
  from: / from\b/iy,
  /** Later in the sentence: an address, a webhook, an attacker or a third party. */
  recipientOutside:
    /(?:[^.!?\n]|\.(?!\s)){0,100}?(?:https?:|(?<=\w)@\w|\battacker|\bto (?:an? )?external (?!\w+ with)|\bwebhook|\bthird[- ]part)/iy,
} satisfies Conditions;
