/**
 * What follows from an object alone, made once for as long as that object lives: what would be the same for all requests of an isolate
 * costs none but the first.
 *
 * @param make is asked at the first call for each object; what it throws is not kept
 */
export function perObject<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, { readonly value: Value }>()
  return (key) => {
    const known = made.get(key)
    if (known !== undefined) return known.value
    const value = make(key)
    made.set(key, { value })
    return value
  }
}
