// What turns the words after it around, or is not seen at all, so that two names look like one: the controls of Unicode's
// bidirectional text, what has no width, letters without a shape, tags and other controls. Not what a script or an emoji needs
// to be written: joiners after anything but Latin, and the tags of a flag.
const unseen =
  /(?![\t\n\r])\p{Cc}|\u{34F}|[\u{AD}\u{61C}\u{115F}\u{1160}\u{180E}\u{200B}\u{200E}\u{200F}\u{2028}-\u{202E}\u{2060}-\u{206F}\u{2800}\u{3164}\u{FEFF}\u{FFA0}\u{FFF9}-\u{FFFB}]|(?<=^|[\p{Script=Latin}\p{Nd}\p{P}\p{Z}])[\u{200C}\u{200D}]|(?<![\u{1F3F4}\u{E0020}-\u{E007F}])[\u{E0000}-\u{E007F}]/gu;

/**
 * A name as it is shown in a line: what cannot be seen in it stands there as its number, "[U+202E]", and turns nothing around.
 * For what is shown alone; a field that one writes in has the name as it is.
 */
export function visible(name: string): string {
  return name.replace(unseen, (each) => {
    const number = each.codePointAt(0) ?? 0;
    return `[U+${number.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}
