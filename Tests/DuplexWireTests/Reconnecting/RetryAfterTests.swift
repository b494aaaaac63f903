// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite struct RetryAfterTests {
    private func delay(_ value: String?, date: String? = nil, calendar: Int64 = 0) -> Duration? {
        var headers = HTTPFields()
        headers[.retryAfter] = value
        headers[.date] = date
        return RetryAfter.delay(headers, calendar: calendar)
    }

    @Test("Seconds are seconds")
    func seconds() {
        #expect(delay("0") == .zero)
        #expect(delay("120") == .seconds(120))
        #expect(delay(" 7 ") == .seconds(7))
        #expect(delay("99999999999999999999999") == .seconds(999_999_999))
    }

    @Test("A date is compared with the server's own, and with ours where the server has none")
    func dates() {
        let then = "Fri, 31 Dec 1999 23:59:59 GMT"
        #expect(delay(then, date: "Fri, 31 Dec 1999 23:59:29 GMT") == .seconds(30))
        #expect(delay(then, date: "Fri, 31 Dec 1999 23:59:29 GMT", calendar: 1) == .seconds(30))
        #expect(delay(then, calendar: 946_684_799 - 45) == .seconds(45))
        // One that has passed.
        #expect(delay(then, calendar: 946_684_799 + 45) == .zero)
    }

    @Test("What is neither is as if it weren't there")
    func nonsense() {
        for value in [nil, "", "soon", "-1", "1.5", "12 parsecs"] {
            #expect(delay(value) == nil, "\(value ?? "none")")
        }
    }

    @Test("A time that is asked for is so many whole seconds, one at least")
    func value() {
        #expect(RetryAfter.value(.zero) == "1" && RetryAfter.value(.nanoseconds(1)) == "1")
        #expect(RetryAfter.value(.seconds(1)) == "1" && RetryAfter.value(.milliseconds(1_001)) == "2")
        #expect(RetryAfter.value(.seconds(-5)) == "1" && RetryAfter.value(.seconds(3_600)) == "3600")
    }
}
