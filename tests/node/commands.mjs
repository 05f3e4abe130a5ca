// A program that a test tells what to do: one JSON command per line in, one JSON line out.
import { createInterface } from "node:readline";

export async function obey(commands) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { name, given } = JSON.parse(line);
    process.stdout.write(JSON.stringify(await answer(commands[name], given)) + "\n");
  }
  process.exit(0);
}

async function answer(command, given) {
  try {
    return { result: (await command(given)) ?? null };
  } catch (error) {
    return { error: { name: error.name, message: error.message, code: error.code ?? null } };
  }
}
