/** Downloads a file. In a new tab, because `download` does not apply to another host, and a text file is shown `inline`. */
export function downloadFile(address: string, name: string): void {
  const link = document.createElement('a');
  Object.assign(link, { href: address, download: name, target: '_blank', rel: 'noopener noreferrer' });
  link.click();
}
