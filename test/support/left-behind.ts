// Waits for work after the last answer of a test file: a module request to Vitest after the file has ended (an object that
// is notified of a change starts with one) fails the complete run.

const left: (() => Promise<unknown>)[] = []

/** Waited for when the test file ends. */
export const settledAtEnd = (settle: () => Promise<unknown>): void => void left.push(settle)

export async function settleAll(): Promise<void> {
  await Promise.allSettled(left.splice(0).map((settle) => settle()))
}
