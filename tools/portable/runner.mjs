// Runs in Node, Bun and Deno. Imports the suite that its argument names, and prints the report.
const { default: suite } = await import(process.argv[2] ?? '');
console.log(JSON.stringify(await suite()));
