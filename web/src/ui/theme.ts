/** The colour theme: the system's, or the user's choice. */
export type Theme = 'system' | 'light' | 'dark';

const key = 'switchyard:theme';

/** The choice stored in this browser. */
export function readTheme(): Theme {
  const found = localStorage.getItem(key);
  return found === 'light' || found === 'dark' ? found : 'system';
}

/** Applies the stored theme, or a new one, which is then stored. */
export function applyTheme(theme: Theme = readTheme()): void {
  if (theme === 'system') {
    localStorage.removeItem(key);
    delete document.documentElement.dataset.theme;
    return;
  }
  localStorage.setItem(key, theme);
  document.documentElement.dataset.theme = theme;
}
