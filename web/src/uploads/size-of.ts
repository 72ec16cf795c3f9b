/** Formats a file size: "3 B", "12 KiB", "1.5 MiB". */
export function sizeOf(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_048_576) return `${Math.round(bytes / 1_024)} KiB`;
  // Rounded up, so that a size above a limit does not look like the limit.
  return `${Math.ceil((bytes / 1_048_576) * 100) / 100} MiB`;
}
