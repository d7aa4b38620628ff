package stats

import "math"

// StepTolerance is by how much the exponent of step counts may exceed that of its class.
// Counts have no noise; what is left is how the sizes were chosen.
const StepTolerance = 0.01

// MinRungs is the fewest sizes from which an exponent of steps is told.
const MinRungs = 5

// StepExponent is the exponent with which counts grow at the upper half of the sizes
// (at least four of them), where constants no longer hide it; sizes are in ascending
// order and double. It is NaN with fewer than MinRungs points.
//
// Counts are a + b*n^e, and a large a makes e look small, a negative one large. So
// where counts grow, e is taken from their differences from size to size, in which a
// does not occur; for an expected exponent of 0, where any growth is a fault and
// differences say nothing, from the counts themselves. A larger exponent than expected
// is looked for, never a smaller one: costs are upper bounds.
func StepExponent(points []Point, expected float64) float64 {
	if len(points) < MinRungs {
		return math.NaN()
	}
	from := min(len(points)/2, len(points)-4)
	upper := points[from:]
	raw := Slope(upper)
	if expected == 0 {
		return raw
	}
	var growth []Point
	for i := max(from, 1); i < len(points); i++ {
		d := points[i].Y - points[i-1].Y
		if d <= 0 {
			return raw
		}
		growth = append(growth, Point{points[i].N, d})
	}
	return Slope(growth)
}
