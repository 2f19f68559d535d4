// Owns orders in scripts that are not written in Latin letters: Chinese, Japanese, Korean, Russian and Ukrainian, Arabic.
// Gaps are bounded and everything is looked for at once, so that no text makes it slow.

import type { Findings } from './finding.ts';

interface Order {
  readonly name: string;
  /** Letters of its script: a text without any is not searched for it. */
  readonly script: RegExp;
  readonly pattern: RegExp;
}

const orders: readonly Order[] = [
  {
    name: 'overrides-instructions',
    script: /[\u4e00-\u9fff]/,
    pattern:
      /(?:忽[略视視]|[无無][视視]|忘[记掉記]|不要(?:遵守|理会))[^。！？\n]{0,12}(?:指[令示]|[说說]明|提示|命令|[规規][则則])/g,
  },
  {
    name: 'prompt-leak',
    script: /[\u4e00-\u9fff]/,
    pattern: /(?:[输輸]出|[显顯]示|泄露|打印|告[诉訴]我)[^。！？\n]{0,10}(?:系[统統]提示|提示[词詞])/g,
  },
  {
    name: 'overrides-instructions',
    script: /[\u3040-\u30ff]/,
    pattern:
      /(?:以前|これまで|今まで|上記|すべて)[^。\n]{0,10}(?:指[示令]|命令|プロンプト|ルール)[^。\n]{0,6}(?:無視|忘れ|従わな)/g,
  },
  {
    name: 'overrides-instructions',
    script: /[\uac00-\ud7af]/,
    pattern: /(?:이전|위의|앞의|기존|모든)[^.\n]{0,12}(?:지[시침]|명령|프롬프트|규칙)[^.\n]{0,8}(?:무시|잊)/g,
  },
  {
    name: 'overrides-instructions',
    script: /[\u0400-\u04ff]/,
    pattern:
      /(?:[иИ]гнорируй|[зЗ]абудь|[нН]е следуй|[іІ]гноруй)[^.!?\n]{0,30}(?:инструкци|указани|правил|команд|промпт|інструкці|вказівк)/g,
  },
  {
    name: 'overrides-instructions',
    script: /[\u0600-\u06ff]/,
    pattern: /(?:تجاهل|انس)[^.؟\n]{0,20}(?:التعليمات|الأوامر|القواعد)/g,
  },
];

export function findOtherScripts(text: string, found: Findings): void {
  if (!/[\u0400-\u06ff\u3040-\ud7af]/.test(text)) return;
  for (const { name, script, pattern } of orders) {
    if (!script.test(text)) continue;
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null && !found.isFull(name); match = pattern.exec(text))
      found.add(name, match.index, pattern.lastIndex);
  }
}
