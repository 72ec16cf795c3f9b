import { Component, type ReactNode } from 'react';

/** Shows nothing in place of children that fail: for what a page can do without, and what another part of the page reports. */
export class Quiet extends Component<{ readonly children: ReactNode }, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    return this.state.hasFailed ? null : this.props.children;
  }
}
