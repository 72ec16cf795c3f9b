import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/surfaces.css';
import './styles/layout.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import { applyTheme } from './ui/theme.ts';

applyTheme();
const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}

// After the service was updated a page that is open asks for parts that are no more: loaded anew, it finds its own.
window.addEventListener('vite:preloadError', (event) => {
  const last = Number(sessionStorage.getItem('reloaded-at') ?? 0);
  if (Date.now() - last < 30_000) return;
  event.preventDefault();
  sessionStorage.setItem('reloaded-at', String(Date.now()));
  location.reload();
});
