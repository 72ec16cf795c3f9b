/** Rows as CSV (RFC 4180) with a header. Values that a spreadsheet would read as a formula get a leading "'". */
export function csvOf<Name extends string>(
  names: readonly Name[],
  rows: readonly Readonly<Partial<Record<Name, unknown>>>[],
): string {
  const lines = [names.join(','), ...rows.map((row) => names.map((name) => cellOf(row[name])).join(','))];
  return `${lines.join('\r\n')}\r\n`;
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = String(value).replace(/^(?=[=+\-@\t\r])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Offers a file for download. */
export function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
