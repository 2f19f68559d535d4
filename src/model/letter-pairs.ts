// Owns which pairs of letters are common in prose and code: words have them, and values drawn by chance do not.

/** Most frequent first. */
export const commonPairs: readonly string[] = (
  'er on in re st es se th de en te or it co ti ng le he ns ea ve at ro is ed ne nd an io ri me ar al nt tr ts un fi et li rt ' +
  'pe to ad ol no ur ha ch ce na ma em ct om of ou ef ec rs ex la do ow oo po ke ty rv nc am as od ac so im ly lo nl pr rn ' +
  'pa ta il ot el ue ll fo ra si be ca ho tu sc ge wh mp yp ic mo ut pt id di mi hi ap op ul os pl ru sh ss lu wn ai ey us'
).split(' ');
