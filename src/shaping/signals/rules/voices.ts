// Owns the signals of whoever speaks in a voice that is not the text's own: a role, an authority, the user, or to the model itself.

import { atStart, onItsOwn, outputs, type Rule } from '../rule.ts';

export const voices: readonly Rule[] = [
  {
    name: 'fake-role',
    before: /(?<=\b(?:i am|i'm) (?:the|your) )/iy,
    after: /(?!["'”’])/y,
    phrases: ['user|administrator|admin|creator'],
  },
  {
    name: 'fake-role',
    isOrder: true,
    phrases: [
      'signed .. system|user|administrator|developer',
      '@boss . now|has|already . wants|requires|asks|instructs|orders|needs|requested|authorized|approved ... you|action',
      '@boss . wants|requires|instructs|orders . you',
    ],
  },
  {
    name: 'fake-role',
    written: /\bfrom\b.{1,40}\bto\b/is,
    phrases: ['message|instruction|request|order|note ... system|@boss .. you|@model'],
  },
  {
    name: 'fake-role',
    before: /(?<=\bthis is (?:an?|my) )/iy,
    written: /\b(?:from|for|to)\b/i,
    phrases: ['important|urgent . message|instruction|notice|order ... you|system|@model|@boss'],
  },
  {
    name: 'fake-role',
    before: atStart,
    written:
      /^(?:SYSTEM|[Ss]ystem (?:[mM]essage|[oO]verride|[iI]nstruction|[dD]irective|[aA]lert)|ADMIN|DEVELOPER|ASSISTANT|Assistant|Human|AI|LLM|AI (?:[aA]gent|[aA]ssistant))$/,
    after: /[\]>*)]{0,4}: {0,4}["'*]{0,4}[A-Za-z]/y,
    phrases: [
      'system|admin|developer|assistant|human|ai|llm',
      'system message|override|instruction|directive|alert',
      'ai agent|assistant',
    ],
  },
  {
    name: 'chat-template-token',
    before: /(?<=\[\/?|<<\/?|<(?:start|end)_of_)/y,
    written: /^(?:INST|SYS|turn)$/,
    after: /[\]>]/y,
    phrases: ['inst|sys|turn'],
  },
  {
    name: 'chat-template-token',
    before: /(?<=### ?)/y,
    after: / ?:/y,
    phrases: ['instruction|instructions|system|human|assistant'],
  },
  {
    name: 'authority-tag',
    before: /(?<=[[<({#*_-]\s{0,2}_?)/y,
    written: /^[A-Z_ -]+$/,
    after: /_?\s{0,2}[\]>)}*:-]/y,
    phrases: ['@authority @tag', '@authority @tag|@authority @tag'],
  },
  {
    name: 'authority-tag',
    before: /(?<=[[<])/y,
    written: /^[A-Z]+$|^[Ii]mportant$/,
    after: /[\]>](?!\s{0,4}\w{1,20}\s?=)/y,
    phrases: ['important|information|system|critical|urgent|secret|hidden'],
  },
  {
    name: 'authority-tag',
    written: /^[A-Z]+$/,
    after: /!!!/y,
    phrases: ['important|urgent|attention|critical'],
  },
  {
    name: 'addresses-model',
    isOrder: true,
    phrases: ['attention|dear|hey|hello|hi . @model'],
  },
  {
    name: 'addresses-model',
    isOrder: true,
    written: /\b(?:to|for)\b/i,
    after: /(?: \w{2,10})?[:,—-]/y,
    phrases: ['note|notice|message|instruction|instructions|reminder|important .. @model'],
  },
  {
    name: 'addresses-model',
    before: /(?<=\bif )/iy,
    written: /^you are (?:an? |the |\w+ language )/i,
    phrases: ['you are .. @model'],
  },
  {
    name: 'addresses-model',
    before: /(?<=\bas an? (?:ai |language |helpful )?)/iy,
    phrases: ['@model . you . must|should|will|need'],
  },
  {
    name: 'speaks-as-user',
    isOrder: true,
    before: onItsOwn,
    written:
      /^\w+ (?!see|check|support|read|star|visit|consider|refer|note|feel|let|follow|look|excuse|forgive|do|don)/i,
    on: outputs,
    phrases: ['please|kindly .... my|im'],
  },
  {
    name: 'speaks-as-user',
    isOrder: true,
    before: onItsOwn,
    on: outputs,
    phrases: ['@handle ... my . @own'],
  },
  {
    name: 'asks-for-action',
    isOrder: true,
    before: onItsOwn,
    after: /\s?[:#]?\s?[A-Z]{0,3}\d{2}/y,
    on: outputs,
    phrases: ['please|kindly .... id|number|account'],
  },
  {
    name: 'asks-for-action',
    isOrder: true,
    phrases: [
      'please|kindly ... @malware',
      'please|kindly . alter|falsify|tamper|manipulate|corrupt|sabotage|intercept|steal|forge',
    ],
  },
  {
    name: 'steers-answer',
    isOrder: true,
    on: outputs,
    phrases: [
      '@work ... your . answer|response|reply',
      'following|below|subsequent code ... your .. implementation|solution|response|algorithm|answer',
      'when|while|before . answering|summarizing|responding|replying .... must|always|include|say|mention|add|recommend',
    ],
  },
  {
    name: 'steers-answer',
    isOrder: true,
    on: outputs,
    after: / (?:in|using|as|with|backward)/y,
    phrases: ['provide|write|give|deliver|apply|use . your . answer|response|reply'],
  },
  {
    name: 'steers-answer',
    on: outputs,
    before: /(?<=\bin )/iy,
    phrases: ['your . answer|response|reply .. include|mention|add|say|recommend'],
  },
];
