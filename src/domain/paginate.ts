/**
 * Iterates over pages of results.
 * @param start position of the first page
 * @param step reads one page: its results and the position of the next page; null at the end
 */
export async function* paginate<Place, Found>({
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
