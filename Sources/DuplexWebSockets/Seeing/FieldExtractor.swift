// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes
import Tracing

/// Reads an instrument's values from the fields of a request.
package struct FieldExtractor: Extractor {
    package init() {}

    package func extract(key: String, from fields: HTTPFields) -> String? {
        HTTPField.Name(key).flatMap { fields[$0] }
    }
}
