package progress

import "strconv"

// Count writes a number of things: 1 turn, 1,234 turns.
func Count(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Thousands(n) + " " + thing
}

// Thousands writes a number with commas: 1,234,567.
func Thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Bytes writes a size for people: 12 B, 3.4 KiB, 1.2 GiB.
func Bytes(n int64) string {
	if n < 1<<10 {
		return strconv.FormatInt(n, 10) + " B"
	}
	size, unit := float64(n)/(1<<10), 0
	for ; size >= 1023.95 && unit < 4; unit++ {
		size /= 1 << 10
	}
	return strconv.FormatFloat(size, 'f', 1, 64) + " " + []string{"KiB", "MiB", "GiB", "TiB", "PiB"}[unit]
}
