import { emptyContext, render } from '@natter/markdown';
import type { RenderContent } from './update-message.ts';

/** The edited content, rendered as a send of it would be. */
export const renderContent: RenderContent = async (_context, content) => render(content, emptyContext);
