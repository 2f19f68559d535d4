// Owns which characters a reader or a model may take for a sign or a letter of a tag: by their shape, or because another alphabet
// writes the same sound with them. Characters that Unicode normalizes to the plain one, and capitals, need no place here.

/** Look like "<"; for a character class of a pattern with the flag `u`. */
export const OPENERS =
  '<\\u00ab\\u02c2\\u02f1\\u1438\\u140a\\u16b2\\u2039\\u2264\\u2266\\u2268\\u226a\\u226e\\u2270\\u2272\\u227a\\u227c\\u227e\\u22b0\\u22b2\\u22b4\\u22d6\\u22d8\\u22dc\\u22de\\u22e6\\u22e8\\u2329\\u25c0-\\u25c5\\u276c\\u276e\\u2770\\u27e8\\u27ea\\u2991\\u2993\\u29c0\\u29cf\\u29fc\\u2a1e\\u2a79\\u2a7b\\u2a7d\\u2a7f\\u2a81\\u2a83\\u2a85\\u2a87\\u2a89\\u2a95\\u2a97\\u2a99\\u2a9b\\u2a9d\\u2aa1\\u2aa3\\u2aa6\\u2aa8\\u2aaf\\u2ab1\\u2ab3\\u2ab5\\u2ab7\\u2ab9\\u2abb\\u2af7\\u2af9\\u2bc7\\u3008\\u300a\\u304f\\u3111\\u3031\\u5ddc\\u{fe64}\\u{ff1c}\\u{1d236}\\u{1f780}';

/** Look like "/" or "\\". */
export const SLASHES =
  '/\\\\\\u1735\\u2041\\u2044\\u2215\\u2216\\u2571\\u2572\\u27cb\\u27cd\\u29f5\\u29f8\\u29f9\\u2afb\\u2afd\\u2cc6\\u2cc7\\u2e4a\\u2f02\\u2f03\\u3033\\u30ce\\u31d3\\u31d4\\u4e36\\u4e3f\\ufe68\\uff0f\\uff3c\\uff89\\u{1d20f}\\u{1d23a}\\u{1d23b}\\u{1f67c}\\u{1f67d}';

/** Join the words of a name, or look as if they did. */
export const JOINTS =
  '\\t-\\r\\p{Z}\\p{Pc}\\p{Pd}\\u00af\\u02c9\\u02cd\\u02d7\\u0640\\u07fa\\u1173\\u203e\\u2212\\u2500\\u2501\\u2581\\u23af\\u23ba-\\u23bd\\u30fc\\u3161\\u4e00\\uff70\\uffda\\uffe3';

/** For each letter what may be taken for it, in lower case and without accents. A sign may stand for several letters. */
const signs: Readonly<Record<string, string>> = {
  c: '(¢ɕͼκςсцқ\u05da\u05db\u0643\u0686คკქცᄃᚲᛕᴄↄ⊂ⲕⲥ⸦ꓚꮯ𐊢𐌂𐌺𐍃𐐽𐐿𐑀𐔜𑣩𑣲🝌',
  e: '3əɛελеэєҽ\u05d0\u0639เეᛖ℮∈⋿ⲉⴹꓰꬲꭼꮛ𐊆𐌴𐐯',
  i: '!1l|¡ıǀɩɪιіӏ\u05d5\u05d9\u0627\u0649\u064a\u06ccიᛁ∣⍳ⲓⵏⵑꙇꭵ𐌹𐐮',
  l: '!1i|ıłǀʟιλліӏլ\u05c0\u05d5\u05dc\u05df\u0627\u0644\u0661۱\u07caลเแლᒪᛚ∣⏐⏽│┃❘ⲗⳑⵏꓡꓲꮮ𐊊𐌉𐌠𐌻𐑃𐑊𐔦𑣃𑣒𖼖𖼨\u{1e8c7}',
  m: 'ɱμϻмшո\u05dd\u05de\u0645௱ทდმოᗰᛖᛗᴍⲙꓟꮇ𐊰𐌑𐌼𐑋𑜀𑣣',
  n: 'ɲɴηνинпոռ\u05df\u05e0\u0646กทนภირჩᚾ∩ⲛⴖꓠ𐌽𐑌𐔓𑣄',
  o: '0¤°øʘοσоөօ\u05d5\u05dd\u05e1\u0647\u0648\u0665\u06be\u06c1\u06d5۩۵ଠௐഠดอโ๏๐໐ဝ၀იოჿᄋዐᛟᴏᴑ•∘○●◯⚪⭕ⲟⵔ〇ロ口ꓳꬽ𐊒𐊫𐍈𐍉𐐬𐓪𐔖𑣈𑣗𑣠',
  p: 'þƿπρпрթ\u05e4\u0641\u067eปผพპრფᑭᚹᛈᴘ⍴ⲣⴜア卩尸ꓑꮲ𐊕𐌐𐍀𐐹',
  r: 'ʀρгря\u05d3\u05e8\u0631รრᖇᚱᴦⲅⲣ尺ꓣꭇꭈꭱꮁꮢ𐍂𐑉𐓜',
  s: '$5§ƽςσсѕտ\u05e1\u05e9\u0633\u0635ซรศสზსᛊᛋⲥⴝㄎ丂ꓢꜱꮥꮪ𐊖𐍃𐑈𑣁',
  t: '+7ŧƭʇτϯтҭե\u05d8\u05ea\u062a\u0637ตทთტጥᛏᴛ†‡⊤┬╤⟙ⲧⴕテナㄒ丅干ꓔꭲ𐊗𐊱𐌕𐍄𐐻𑣜𖼊🝨',
  u: 'ʊʋμυуцүս\u05d5\u05e2\u0648นบปมรฬსუყሀᑌᚢᴜ∪⊔⋃ⲩⴑしひㄩ凵ꓴꞟꭎꭒ𐌿𐐭𐐳𐓶𑣘𖽂',
  v: 'ʌβνвџѵ\u05d1\u05d5\u05d8\u0648\u0667۷วვᐯᴠ√∨⋁ⲃⴸꓦꛟꮩ𐑂𑜆𑣀𖼈𝈍',
};

/** A sign → the letters that it may be taken for. */
export const lookAlikes: ReadonlyMap<string, string> = lettersBySign();

function lettersBySign(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [letter, alike] of Object.entries(signs))
    for (const sign of alike) if (sign !== letter) found.set(sign, `${found.get(sign) ?? ''}${letter}`);
  return found;
}
