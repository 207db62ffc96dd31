/**
 * Goes through something in parts, each from where the one before ended.
 *
 * @param start where the first part begins
 * @param step one part: what it found, and where the next one begins; null at the end
 */
export async function* inParts<Place, Found>({
  start,
  step,
}: {
  readonly start: Place
  readonly step: (from: Place) => Promise<{ readonly found: Found; readonly next: Place | null }>
}): AsyncGenerator<Found> {
  for (let from: Place | null = start; from !== null; ) {
    const { found, next }: { readonly found: Found; readonly next: Place | null } = await step(from)
    yield found
    from = next
  }
}
