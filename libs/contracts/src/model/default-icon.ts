/** The icon of an organization that has none of its own. Gateways serve it, as PNG, because mobile clients decode no SVG. */
export const defaultIconPath = '/static/natter-icon.png';
