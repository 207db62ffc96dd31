// What goes on behind the last answer of a test file? It is waited for: what asks Vitest for a module when the file has ended (an object that
// hears of a change begins with one) fails the whole run.

const left: (() => Promise<unknown>)[] = []

/** Waited for when the test file ends. */
export const settledAtEnd = (settle: () => Promise<unknown>): void => void left.push(settle)

export async function settleAll(): Promise<void> {
  await Promise.allSettled(left.splice(0).map((settle) => settle()))
}
