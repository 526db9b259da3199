// Runs in Node, Bun and Deno: imports the suite that it is given and prints its report.
const { default: suite } = await import(process.argv[2] ?? '');
console.log(JSON.stringify(await suite()));
