const paths = {
  archive: 'M3 5h18v4H3zM5 9v10h14V9M10 13h4',
  arrowDown: 'M12 5v14M6 13l6 6 6-6',
  arrowUp: 'M12 19V5M6 11l6-6 6 6',
  attach:
    'M20 11l-8.500 8.500a5 5 0 0 1-7-7L13 4a3.300 3.300 0 0 1 4.700 4.700l-8.500 8.500a1.700 1.700 0 0 1-2.400-2.400L14 7.500',
  back: 'M19 12H5M11 6l-6 6 6 6',
  bell: 'M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4',
  book: 'M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11',
  building: 'M4 21V4h10v17M14 9h6v12M2 21h20M8 8h2M8 12h2M8 16h2M17 13h.01M17 17h.01',
  check: 'M5 13l4 4L19 7',
  chevron: 'M9 6l6 6-6 6',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3 2',
  close: 'M6 6l12 12M18 6L6 18',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  filter: 'M4 6h16M7 12h10M10 18h4',
  folder: 'M3 6h7l2 2h9v11H3z',
  gauge: 'M4 17a8 8 0 1 1 16 0M12 17l4-6',
  gear: 'M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM12 3v3M12 18v3M3 12h3M18 12h3M5.600 5.600l2.100 2.100M16.300 16.300l2.100 2.100M18.400 5.600l-2.100 2.100M7.700 16.300l-2.100 2.100',
  home: 'M4 11l8-7 8 7v9h-5v-6H9v6H4z',
  inbox: 'M3 13l3-8h12l3 8v6H3zM3 13h5l1.500 3h5L16 13h5',
  info: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v5M12 8h.01',
  key: 'M8 11a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM11 12l9-9M16 7l3 3',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  menu: 'M4 6h16M4 12h16M4 18h16',
  more: 'M5 11.500h.5v1h-.5zM12 11.500h.5v1h-.5zM19 11.500h.5v1h-.5z',
  moon: 'M20 14A8 8 0 1 1 10 4a7 7 0 0 0 10 10z',
  pane: 'M3 5h18v14H3zM14 5v14',
  pause: 'M8 5v14M16 5v14',
  pin: 'M9 3h6l-1 6 4 4H6l4-4zM12 13v8',
  play: 'M7 5l12 7-12 7z',
  plus: 'M12 5v14M5 12h14',
  power: 'M12 3v9M6.500 7a8 8 0 1 0 11 0',
  pull: 'M6 8v8M6 4a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM6 16a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM18 16a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM18 16V9a3 3 0 0 0-3-3h-4M13 3l-3 3 3 3',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5',
  send: 'M4 12l16-8-6 17-3-7z',
  signOut: 'M14 4H5v16h9M10 12h11M17 8l4 4-4 4',
  stop: 'M6 6h12v12H6z',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.500 1.500M17.500 17.500L19 19M19 5l-1.500 1.500M6.500 17.500L5 19',
  system: 'M4 5h16v11H4zM9 20h6M12 16v4',
  tag: 'M4 4h8l8 8-8 8-8-8zM8 8h.01',
  terminal: 'M4 5h16v14H4zM8 10l3 2.500L8 15M13 15h3',
  thought: 'M7 17a4 4 0 0 1-1-7.800A6 6 0 0 1 17.500 8 4.500 4.500 0 0 1 17 17zM8 21h.01',
  toEnd: 'M12 4v12M6 11l6 6 6-6M5 20h14',
  toStart: 'M12 20V8M6 13l6-6 6 6M5 4h14',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  user: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4 21a8 8 0 0 1 16 0',
  users:
    'M9 5a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM3 20a6 6 0 0 1 12 0M16 5.500a3 3 0 0 1 0 6M17 14.500a6 6 0 0 1 4 5.500',
  warning: 'M12 4l9 16H3zM12 10v4M12 17h.01',
} as const;

/** A name of an {@link Icon}. */
export type IconName = keyof typeof paths;

/** A small decorative icon beside a text. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}

/** The product's logo. */
export function Mark({ size = 28 }: { readonly size?: number }) {
  return (
    <svg className="mark" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M7 11h6c4 0 6 10 10 10h2M7 21h6c1.600 0 2.900-1.600 4-3.500M19.500 13c.9-1.200 2-2 3.500-2h2" />
    </svg>
  );
}
