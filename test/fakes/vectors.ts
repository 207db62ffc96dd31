/** A vector that depends on the text alone and differs from text to text, like a model's. Not of length 1. */
export function vectorOf(text: string, dimensions: number): number[] {
  let state = 17
  for (let i = 0; i < text.length; i++) state = (Math.imul(state, 31) + text.charCodeAt(i)) | 0
  return Array.from({ length: dimensions }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0
    return (state >> 8) / 2 ** 22
  })
}
