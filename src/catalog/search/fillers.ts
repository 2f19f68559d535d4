// Owns the words of a question that say little about the tool: some nothing at all, some only a little.

const split = (text: string) => new Set(text.trim().split(/\s+/));

/** Grammar and politeness. They count only in a question that has nothing else. */
export const fillers: ReadonlySet<string> = split(`
a an the this that these those there here it its i me my mine we us our ours you your yours he him his she her hers
they them their theirs who whom whose which what when where why how
am is are was were be been being do does did doing done have has had having can could will would shall should may might
must ought and or but nor so yet if then else than as of at by for from in into on onto to with without within about
against between among during before after above below over under up down out off again further once
not no only own same too very just also even still already ever never always
please kindly thanks thank hi hello hey dear sorry ok okay yes help helps helping assist assistance assisting
want wants wanted wanting need needs needed needing like likes looking look wish wondering wonder hoping hope trying try
able possible possibly maybe perhaps let lets
im ive id ill youre youve youd youll hes shes theyre theyve weve dont doesnt didnt cant couldnt wouldnt wont isnt arent
wasnt havent hasnt whats wheres hows theres thats
some any all each every both few more most other such much many lot lots several bit really quite actually currently now
give tell show provide know get getting got using use used make sure think say going go gonna
something anything everything nothing someone anyone everyone thing things way ways one ones
because since while until although though however therefore thus etc eg ie via per
`);

/** Dates, and words that fit every tool. Numbers and single letters are treated like these. */
export const faintWords: ReadonlySet<string> = split(`
january february march april june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun
today tomorrow tonight yesterday morning afternoon evening night noon week weekend month year pm st nd rd th
related based specific specifically various different certain particular particularly including regarding concerning
relevant suitable appropriate good great well perfect interesting interested
`);
