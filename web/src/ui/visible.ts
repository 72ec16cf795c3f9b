// Characters that reverse the text after them or are invisible, so that different names look equal: bidirectional
// controls, zero-width characters, blank letters, tags and other controls. Characters that a script or an emoji needs
// are excluded: joiners except after Latin letters, and the tags of a flag.
const unseen =
  /(?![\t\n\r])\p{Cc}|\u{34F}|[\u{AD}\u{61C}\u{115F}\u{1160}\u{180E}\u{200B}\u{200E}\u{200F}\u{2028}-\u{202E}\u{2060}-\u{206F}\u{2800}\u{3164}\u{FEFF}\u{FFA0}\u{FFF9}-\u{FFFB}]|(?<=^|[\p{Script=Latin}\p{Nd}\p{P}\p{Z}])[\u{200C}\u{200D}]|(?<![\u{1F3F4}\u{E0020}-\u{E007F}])[\u{E0000}-\u{E007F}]/gu;

/**
 * Makes a name safe to show: invisible characters become their number, "[U+202E]", and reverse nothing. For display
 * only; a field for editing has the exact name.
 */
export function visible(name: string): string {
  return name.replace(unseen, (each) => {
    const number = each.codePointAt(0) ?? 0;
    return `[U+${number.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}
