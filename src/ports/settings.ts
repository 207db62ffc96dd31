/** Small values that outlive an isolate, such as the progress of background work. */
export interface Settings {
  read(name: string): Promise<string | null>
  write(name: string, value: string): Promise<void>
}
