// Owns the signals of what must not happen unseen: keeping things from the user, sending data away, steering the tools.

import { descriptions, type Rule } from '../rule.ts';

const toSomebody =
  /(?:[^.!?\n]|\.(?!\s)){0,100}?(?:https?:|(?<=\w)@\w|\battacker|\bto (?:an? )?external (?!\w+ with)|\bwebhook|\bthird[- ]part)/iy;

export const deeds: readonly Rule[] = [
  {
    name: 'secrecy',
    phrases: [
      'not|dont|never|without|avoid @tell ... @user',
      '@user . must|should|may|does|do|doesnt|shouldnt|mustnt|need .. know|see|notice|aware|told|informed',
    ],
    written: /n[o']t|never|without|avoid/i,
  },
  {
    name: 'secrecy',
    after: /\s(?:this|these|that|it)\b[^.\n]{0,18}?\b(?:instructions?|message|to|tool)\b/iy,
    phrases: ['not|dont|never mention|reveal|disclose|discuss|acknowledge|tell'],
  },
  {
    name: 'secrecy',
    after: / from\b/iy,
    phrases: ['keep .. secret|hidden|confidential'],
  },
  {
    name: 'secrecy',
    isOrder: true,
    phrases: [
      'hide|conceal|mask|cover|erase|remove ... trace|traces|tracks|evidence',
      'ensure|make|please .... undetected|unnoticed|untraceable',
      'ensure|make|please .... not|without|avoid|evade|avoids|evades .. detected|detection|noticed|documented|recorded|logged|traced',
      'please .... @covertly|quietly|silently|subtly',
      'execute|run|send|copy ... @covertly|quietly|silently',
      '@covertly|quietly|silently . send|forward|upload|copy|include|add|execute|run|call|post|read|insert|modify|delete',
    ],
  },
  {
    name: 'exfiltration',
    isOrder: true,
    after: toSomebody,
    phrases: ['@send .. @secret', '@send .. all|entire|whole|full|any ... @secret'],
  },
  {
    name: 'exfiltration',
    isOrder: true,
    phrases: [
      '@send|log ... @secret|file .... attacker|attackers',
      '@read .... etc passwd|shadow',
      '@read .... ssh id|config|keys',
      '@read .... mcp json',
      '@read .... aws credentials',
    ],
  },
  {
    name: 'exfiltration',
    on: descriptions,
    phrases: [
      '@send|log ... @secret .... external|third|attacker',
      'all|every|each|any ... must|should .. sent|forwarded|copied|logged|routed|redirected',
      'include|append|attach|add|pass|put ... whole|entire|full|complete . conversation|chat|history|message|prompt|context',
      'etc passwd|shadow',
      'ssh id rsa',
      'private key|keys .... argument|parameter|field',
    ],
  },
  {
    name: 'prompt-leak',
    isOrder: true,
    phrases: [
      '@recite|send|tell|share|write|list|include|provide .. your .. system|initial|original|hidden|secret|full|internal|entire|developer .. prompt|prompts|instructions|message|rules|guidelines',
      '@recite .. your . prompt|instructions',
      '@recite .. system|above|previous|initial|hidden . prompt|instructions',
      'what .. your . system|initial|original|hidden . prompt|instructions',
    ],
  },
  {
    name: 'tool-steering',
    on: descriptions,
    phrases: [
      'best|greatest|finest|superior . tool|server|choice|option .. world|ever|available',
      'most ... tool|server|choice|option . ever|world',
      'rather than . other|others|any|all',
      'no matter how|what|which',
      '@disregard . other ... tool|tools',
      'not|never|dont . use|call|trust|choose .. other|others ... tool|tools',
      'not|never|dont . use|call|trust ... unsafe|insecure|deprecated',
      'other .. are . deprecated|unsafe|insecure|broken|outdated|unreliable|untrusted',
      'before . @use .... must|always .. @use .. tool',
      'before . @use ... tool|operation|method|any|message .. @use|read|pass|copy|send',
      'called|used|invoked|executed everytime|always',
      'must|should . called|used|invoked|executed . first . before . any|every|all|other',
      'even .. user .. not|didnt|doesnt|hasnt . ask|asked|request|requested',
      'instead .. @use ... always|first',
      'replace|modify|change|swap .. values|arguments|recipient|parameters|output ... response|result',
      'must|always .. replace|change|set|modify .. recipient|destination|address',
      'otherwise .. tool . will not',
    ],
  },
  {
    name: 'tool-steering',
    on: descriptions,
    before: /(?<=\b(?:use|using|prefer|choose|select|call) this )/iy,
    phrases: ['tool|one . instead|rather|over|regardless|matter ... other|others|any|how|what|query'],
  },
  {
    name: 'tool-steering',
    isOrder: true,
    phrases: [
      'use|call|invoke|run|execute ... tool . @harm',
      'names|list .. tools you',
      '@harm .... using|calling ... tool',
    ],
  },
  {
    name: 'tool-steering',
    before: /(?<=\bto )/iy,
    phrases: [
      'continue|proceed|complete|finish|unlock|get|obtain|receive .... you . must|need|have .. use|call|invoke|run|execute ... tool',
    ],
  },
];
