// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What the pages of this package have in common: elements out of text, and the look of controls.
package enum PageParts {}
