// Owns the echo over pipes: an MCP server that costs as little as one can.

import { answerTo } from './echo.mjs';

let answers = '';

function answer(message) {
  if (message.id === undefined) return;
  const [head, result, tail] = answerTo(message);
  if (typeof result === 'string') answers += `${head}${result}${tail}\n`;
  else {
    process.stdout.write(`${answers}${head}`);
    process.stdout.write(result);
    answers = `${tail}\n`;
  }
}

let unfinished = '';

process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (unfinished + chunk).split('\n');
  unfinished = lines.pop();
  for (const each of lines) answer(JSON.parse(each));
  if (answers !== '') process.stdout.write(answers);
  answers = '';
});
process.stdin.on('end', () => process.exit());
process.stdout.on('error', () => process.exit());
