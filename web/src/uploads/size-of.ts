/** How large a file is, in words: "3 B", "12 KiB", "1.5 MiB". */
export function sizeOf(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_048_576) return `${Math.round(bytes / 1_024)} KiB`;
  // Not rounded down to a limit that it is above.
  return `${Math.ceil((bytes / 1_048_576) * 100) / 100} MiB`;
}
