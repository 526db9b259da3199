// Measures in Node, Bun or Deno: prints the operations per second of each loop, size by size, round by round.
import { loops, repeat } from './runtime-loops.mjs';

const [sizes, rounds, roundMs] = JSON.parse(process.argv[2]);
const found = sizes.map((size) => {
  const works = Object.entries(loops(size));
  const counts = works.map(([, work]) => {
    let count = 1;
    while (timeOf(work, count) < roundMs / 4) count *= 2;
    return count * 4;
  });
  return Array.from({ length: rounds }, () =>
    works.map(([, work], index) => (counts[index] / timeOf(work, counts[index])) * 1000),
  );
});
console.log(JSON.stringify(found));

function timeOf(work, count) {
  const started = performance.now();
  repeat(work, count);
  return performance.now() - started;
}
