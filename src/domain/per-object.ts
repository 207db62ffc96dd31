/**
 * Memoizes a function of one object for the lifetime of that object, so that only the first request of an isolate pays
 * for it.
 * @param make computes the value at the first call for each object; an error is not cached
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
