// Waits for work after the last answer of a test file. A module request to Vitest after the end of a file (an object
// that is notified of a change starts with one) fails the complete run.

const left: (() => Promise<unknown>)[] = []

/** Work to wait for at the end of the test file. */
export const settledAtEnd = (settle: () => Promise<unknown>): void => void left.push(settle)

export async function settleAll(): Promise<void> {
  await Promise.allSettled(left.splice(0).map((settle) => settle()))
}
