/** Small values that outlive an isolate: how far background work has come. */
export interface Settings {
  read(name: string): Promise<string | null>
  write(name: string, value: string): Promise<void>
}
