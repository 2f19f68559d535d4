// Owns the kinds of words that phrases are made of. `stem/s` is the word with and without that ending.

import type { Kinds } from './phrases.ts';

export const kinds: Kinds = {
  // What was said before, and doing as if it had not been. A handful of languages, without their accents.
  disregard: `ignore disregard forget override overrule bypass discard dismiss neglect supersede nullify abandon unlearn
    ignoriere ignorieren vergiss vergesse missachte ignorez oublie oubliez ignora ignorar ignoren olvida olvide olviden
    esqueca desconsidere dimentica ignorate negeer vergeet`,
  before: `previous previously prior above earlier preceding foregoing former vorherigen vorigen bisherigen obigen fruheren
    vorangegangenen precedentes precedente anteriores anterior previas precedenti vorige eerdere`,
  every: `all any every each your these those other existing original initial current system following subsequent later
    alle toutes todas tutte tus votre seus deine deiner`,
  instructions: `instruction/s prompt/s directive/s guideline/s programming anweisung/en vorgaben consignes instrucciones
    ordenes instrucoes istruzioni instructies`,
  rules: `rule/s order/s command/s constraint/s restriction/s limitation/s policy policies context task/s request/s query
    message/s conversation training safeguards guardrails information regeln regles reglas regras regole`,
  obey: 'follow obey adhere comply execute heed observe respect perform',

  // What keeps a model or a system in bounds.
  switchoff: 'disable bypass suspend deactivate circumvent evade ignore disregard override remove lift skip relax drop',
  safe: 'security safety ethical moral content safeguard/s guardrail/s access validation authentication authorization',
  controls: `restriction/s control/s check/s filter/s policy policies measures protocol/s guideline/s rules limit/s limitations
    validation/s feature/s mechanism/s safeguard/s protection/s constraints`,
  leave:
    'confirmation approval validation permission consent verification authorization restriction/s confirming asking',
  unbound:
    'unrestricted unfiltered uncensored jailbroken jailbreak unmoderated unlimited unrestrained amoral unethical',
  persona: `ai assistant bot chatbot hacker agent model dan unrestricted unfiltered uncensored jailbroken evil administrator
    admin root superuser rogue malicious`,

  // Who speaks, and to whom.
  model: 'ai assistant/s llm/s agent/s model/s chatgpt gpt claude gemini copilot chatbot bot',
  boss: 'user developer/s administrator/s admin operator creator owner',
  user: 'user/s human/s owner operator customer person',
  authority: `system admin administrator priority security emergency root developer override bypass urgent critical important
    safety jailbreak maintenance`,
  tag: 'override bypass instruction/s directive/s command/s protocol prompt message order notice access mode',
  answer: 'answer response reply output',

  // What must not be said, and what must not get out.
  tell: `tell mention inform reveal disclose notify alert show report warn telling mentioning informing notifying alerting
    revealing disclosing showing warning reporting`,
  covertly: 'discreetly covertly secretly stealthily surreptitiously clandestinely',
  send: 'send forward upload email mail transmit leak exfiltrate share copy bcc relay export submit pass distribute transfer dump',
  read: 'read cat open load fetch retrieve include attach print send copy',
  secret: `password/s credential/s secret/s token/s key/s conversation history cookies prompt/s database contact/s records
    variables wallet confidential sensitive personal private financial message/s content/s data files addresses`,

  recite: 'reveal print repeat output show display leak expose recite',

  // What is to be done, and with what.
  use: 'use using call calling invoke invoking run running execute executing',
  work: `modify encode integrate render translate replace encrypt embed append enhance insert begin end start finish include add
    incorporate`,
  done: 'complete completed finished done accomplished fulfilled solved over',
  harm: 'kill terminate delete remove send transfer modify overwrite upload email pay disable grant drop edit save write wipe',
  malware: 'ransomware malware backdoor/s spyware keylogger rootkit trojan virus botnet',
  handle: `update withdraw transfer delete share sell send move redirect grant remove retrieve fetch find forward export change
    pay disable unlock access get obtain extract gather collect download check list locate look`,
  own: `account/s bank files data profile email/s password/s repository address/es home contacts photos calendar credit card
    wallet genetic medical health personal saved residence recent order/s details location payment transactions history device/s
    schedule appointment/s documents messages inbox notes friends browser phone insurance prescription/s balance`,
};
