/** Wraps bindings so that chosen calls fail. */
export type Fault = 'before' | 'after'

/** Selects the call that fails: before it reaches the binding, or after the binding has done it. */
export class Faults {
  private plan: (Fault | undefined)[] = []
  calls = 0

  /** Lets `skip` calls pass, then fails one. */
  failAfter(skip: number, fault: Fault): void {
    this.calls = 0
    this.plan = [...Array.from({ length: skip }, () => undefined), fault]
  }

  clear(): void {
    this.calls = 0
    this.plan = []
  }

  async run<T>(call: () => Promise<T>): Promise<T> {
    const fault = this.plan[this.calls++]
    if (fault === 'before') throw new Error('injected: Network connection lost at 10.0.0.7')
    const result = await call()
    if (fault === 'after') throw new Error('injected: internal error; reference = secret-42')
    return result
  }
}

/** A proxy of a binding with fault injection for some async methods. */
export function faulty<T extends object>(binding: T, methods: readonly (keyof T)[], faults: Faults): T {
  return new Proxy(binding, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (typeof value !== 'function') return value
      const bound = value.bind(target) as (...args: unknown[]) => Promise<unknown>
      return methods.includes(name as keyof T) ? (...args: unknown[]) => faults.run(() => bound(...args)) : bound
    },
  })
}
