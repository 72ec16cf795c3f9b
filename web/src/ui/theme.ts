/** How the console looks: as the system does, or as somebody chose. */
export type Theme = 'system' | 'light' | 'dark';

const key = 'switchyard:theme';

/** What was chosen in this browser. */
export function readTheme(): Theme {
  const found = localStorage.getItem(key);
  return found === 'light' || found === 'dark' ? found : 'system';
}

/** Shows what was chosen, or what is chosen now, which is remembered. */
export function applyTheme(theme: Theme = readTheme()): void {
  if (theme === 'system') {
    localStorage.removeItem(key);
    delete document.documentElement.dataset.theme;
    return;
  }
  localStorage.setItem(key, theme);
  document.documentElement.dataset.theme = theme;
}
