import { checks as texts } from '../../texts/manage-kit.ts';

/** Checks a macro of a note or a playbook as the service does. */
export const checkMacro = (value: string): string | null =>
  value.trim() === '' || /^![A-Za-z0-9_-]{1,99}$/.test(value.trim()) ? null : texts.macro;

/** Checks the placeholders of a branch template. The service also checks the rest of the branch's name. */
export function checkBranchTemplate(value: string): string | null {
  const template = value.trim();
  if (template === '') return null;
  if (!/\{short id\}/.test(template)) return texts.noShortId;
  return /[{}\s]/.test(template.replaceAll(/\{(?:short id|slug)\}/g, '')) ? texts.notBranch : null;
}

/** Checks that a text is JSON, if there is one. */
export function checkJson(value: string): string | null {
  if (value.trim() === '') return null;
  try {
    JSON.parse(value);
    return null;
  } catch (error) {
    return texts.notJson({ message: (error as Error).message });
  }
}
