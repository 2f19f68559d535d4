// Owns the signals of whoever wants to be obeyed instead of those before: other instructions, another role, no safeguards.

import { atStart, type Rule } from '../rule.ts';

export const obedience: readonly Rule[] = [
  {
    name: 'overrides-instructions',
    isOrder: true,
    phrases: [
      '@disregard .. @before .. @instructions|@rules',
      '@disregard .. @every .. @instructions',
      'ignore|disregard|forget .. instructions|directives|guidelines',
      '@disregard .. your .. @instructions|@rules',
      '@disregard .. @instructions|@rules . @before',
      '@disregard .. task|question|request|query .. you|user|given',
      '@disregard .. user|users .. @instructions|@rules|question',
      '@disregard . everything|anything|what|all .. @before|you|said|told|know|learned',
      'not|dont|never . @obey|listen .. @before|your .. @instructions|@rules',
      'not|dont|never . @obey|listen .. @instructions . @before',
      'pay no attention .. @before|@instructions',
      'stop following|obeying .. @before|@every|your .. @instructions|@rules',
      'stop . what you are doing',
      'instead . answering|summarizing|responding|completing ... output|say|write|print|respond|reply|send|do',
    ],
  },
  {
    name: 'claims-priority',
    phrases: [
      'precedence|priority over .. @every .. @instructions|security|safety|policies|rules',
      'precedence|priority over . security|safety',
      'priority . than .. @every .. @instructions|rules|policies',
      'supersede|supersedes|overrides|override .. security|safety .. @controls',
      'instruction|directive|message .. overrides|supersedes .. @every .. @instructions|@rules|security|safety',
    ],
  },
  {
    name: 'disables-safeguards',
    isOrder: true,
    phrases: [
      '@switchoff .. @safe . @controls',
      '@switchoff .. @every .. restrictions|safeguards|guardrails|safety',
      'disable|lift|remove restrictions',
      'suspended|disabled security|safety',
      'bypass . authentication|authorization|validation ... all|operations|access',
      'execute|run|proceed|perform|allow|grant|continue|act ... without .. @leave',
      'allow|grant|enable|give ... unrestricted|unlimited access',
      'elevate|escalate . your .. privileges|permissions|access',
    ],
  },
  {
    name: 'role-change',
    isOrder: true,
    phrases: [
      'you are now .. @persona',
      'you are . no longer ... @model|bound|restricted|limited',
      'pretend|imagine .. @unbound|rogue|forgotten|ai',
      'pretend|imagine ... no .. restrictions|rules|limits|ethics',
      'jailbreak|dan|god|unrestricted|sudo|developer mode . enabled|activated|available|unlocked',
      'enable|enter|activate|switch|turned .. jailbreak|dan|god|unrestricted|sudo mode',
      'do anything now',
      'answer|respond|reply .. anything|everything|all|any .. without ... restrictions|filters|limits|limitations',
      'immerse yourself .. role',
      'stay .. character',
    ],
  },
  {
    name: 'role-change',
    before: /(?<=\bfrom )/iy,
    phrases: [
      'now . you . will|must|are|shall|should|only|reply|respond|act|answer',
      'now . respond|answer|act|reply|your',
    ],
  },
  {
    name: 'role-change',
    isOrder: true,
    written: /\b(?:as|from|of)\b/i,
    phrases: [
      'act|behave|respond|reply|answer .. @unbound|evil|root|admin|administrator',
      'free|freed ... restrictions|filters|limitations|constraints|censorship',
    ],
  },
  {
    name: 'new-instructions',
    isOrder: true,
    phrases: [
      'strictly|must|immediately . strictly|only|exactly . @obey ... following|these|below .. @instructions|orders|commands|task',
      'must|strictly . @obey ... following|these|below .. @instructions|orders|commands|task',
      'before|after .... please|must . do|complete|perform|execute|finish|run|call .. following|first|new|task',
      'do|complete|perform|finish|execute|prioritize .. new|my|urgent .. task|request|query .. first|immediately|instead|before',
      'have .. more . urgent|important .. task|request|instruction',
      'after . you . do|done|finish|complete|completed . you . can|may|should|continue|proceed',
    ],
  },
  {
    name: 'new-instructions',
    before: /(?<=\b(?:your|the) )/iy,
    after: / (?:is|are|follows|as follows)\b/iy,
    phrases: ['new|real|actual|true|only|updated . task|goal|job|instructions|objective|purpose'],
  },
  {
    name: 'new-instructions',
    before: atStart,
    after: /['"*\]\s]{0,6}:/y,
    phrases: [
      'new|updated|real|actual|revised|urgent|additional|secret|hidden|important|priority .. @instructions|objective|orders|command|assignment',
      'new . user . query|request|message|instruction|prompt|task|input|question',
    ],
  },
  {
    name: 'fake-completion',
    after:
      /(?:[\s.!,;"'*-]|\\[nrt]){0,12}(?:please|now|new|ignore|then|your|i|proceed|here|but|you|forget|disregard)\b/iy,
    phrases: [
      'previous|original|first|above|initial . task|request|query|question|instruction .. @done',
      'task . @done',
    ],
  },
];
