/** A part of a text that is a secret. */
export interface SecretRange {
  readonly kind: string
  readonly from: number
  readonly to: number
}
